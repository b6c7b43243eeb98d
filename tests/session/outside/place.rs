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
fn a_link_to_a_socket_counts_only_where_that_is_the_users_alone_and_goes_when_it_leads_nowhere() {
    let (own, open, links) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    for (directory, mode) in [(&own, 0o700), (&open, 0o755), (&links, 0o700)] {
        fs::set_permissions(directory.path(), Permissions::from_mode(mode)).unwrap();
    }
    let sockets = Sockets::within(links.path().to_owned());
    let mut server = listen(Hub::new(handle()), about(), &Sockets::within(own.path().to_owned())).unwrap();
    server.announce(&sockets).unwrap();
    assert_eq!(sockets.list().unwrap(), [own.path().join("the-session.sock")]);
    assert_eq!(sockets.directories().len(), 2);
    // One where others can enter, one of another name, and one that a killed program left.
    let foreign = open.path().join("foreign.sock");
    let _listener = UnixListener::bind(&foreign).unwrap();
    std::os::unix::fs::symlink(&foreign, links.path().join("foreign.sock")).unwrap();
    std::os::unix::fs::symlink(own.path().join("the-session.sock"), links.path().join("other.sock")).unwrap();
    std::os::unix::fs::symlink("/nonexistent/gone.sock", links.path().join("gone.sock")).unwrap();
    assert_eq!(sockets.list().unwrap().len(), 1);
    let again = listen(Hub::new(handle()), About { session: "next".to_owned(), ..About::default() }, &sockets).unwrap();
    assert!(fs::symlink_metadata(links.path().join("gone.sock")).is_err());
    drop((server, again));
    assert_eq!(sockets.list().unwrap().len(), 0);
    assert!(fs::symlink_metadata(links.path().join("the-session.sock")).is_err());
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
