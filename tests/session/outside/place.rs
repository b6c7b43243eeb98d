//! Where the sockets lie: in a directory that is the user's alone, one file per session, replaced when it is left over.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use steersman_session::Hub;
use steersman_session::socket::{About, Sockets, listen, name_of};
use tempfile::TempDir;

use crate::support::listening::{Listening, handle};

fn about() -> About {
    About { session: "the-session".to_owned(), ..About::default() }
}

#[test]
fn the_socket_and_its_directory_are_the_users_alone_and_go_with_the_session() {
    let mut run = Listening::start();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&run.path), mode(run.path.parent().unwrap())), (0o600, 0o700));
    let sockets = Sockets::within(run.directory.path().join("sockets"));
    let names: Vec<_> = sockets.list().unwrap().iter().filter_map(|path| name_of(path).map(str::to_owned)).collect();
    assert_eq!(names, ["the-session"]);
    run.server = None;
    assert_eq!(sockets.list().unwrap().len(), 0);
}

#[test]
fn a_socket_that_a_killed_program_left_is_replaced_and_one_in_use_is_not() {
    let directory = TempDir::new().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o700)).unwrap();
    let sockets = Sockets::within(directory.path().to_owned());
    drop(UnixListener::bind(sockets.path("the-session")).unwrap());
    let hub = Hub::new(handle());
    let _server = listen(Arc::clone(&hub), about(), &sockets).unwrap();
    let error = listen(hub, about(), &sockets).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn a_directory_that_others_can_enter_is_not_used() {
    let directory = TempDir::new().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let sockets = Sockets::within(directory.path().to_owned());
    let error = listen(Hub::new(handle()), about(), &sockets).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(sockets.list().is_err());
    let link = TempDir::new().unwrap();
    let elsewhere = link.path().join("link");
    std::os::unix::fs::symlink(directory.path(), &elsewhere).unwrap();
    assert!(listen(Hub::new(handle()), about(), &Sockets::within(elsewhere)).is_err());
}
