//! `#[tool]`: a tool out of an async function. What it writes is a call of `steersman::tool::typed` with a type whose fields
//! are the arguments of the function; schema, check and description come from there.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, Meta, Pat, PatType, Result, Type};

/// Makes a tool out of an async function: its name is that of the function, its doc comment tells the model what it does, its
/// arguments are the parameters, with their doc comments. Afterwards the function takes nothing and returns the tool.
///
/// An argument of the type `ToolContext` is no parameter: it is what a running call can use. An `Option` may be left out.
/// Attributes of serde and schemars on an argument count. In the function `?` turns any error into an `Error: …` observation.
///
/// Example: "A tool out of a function" in the documentation of `steersman::prelude`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let written = if options.is_empty() {
        syn::parse::<ItemFn>(item).and_then(|function| write_tool(&function))
    } else {
        Err(Error::new(proc_macro2::Span::call_site(), "#[tool] takes no options"))
    };
    written.unwrap_or_else(Error::into_compile_error).into()
}

fn write_tool(function: &ItemFn) -> Result<Tokens> {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let refuse = |place: &dyn ToTokens, why: &str| Err(Error::new(place.span(), why));
    if sig.asyncness.is_none() {
        return refuse(sig, "a tool is an `async fn`");
    }
    if !sig.generics.params.is_empty() {
        return refuse(&sig.generics, "a tool takes no type parameters");
    }
    let description = documentation(attrs);
    if description.is_empty() {
        return refuse(&sig.ident, "a tool needs a doc comment: it tells the model what the tool does");
    }
    let arguments = sig.inputs.iter().map(Argument::new).collect::<Result<Vec<_>>>()?;
    let name = &sig.ident;
    let called = name.to_string();
    let called = called.trim_start_matches("r#");
    let output = &sig.output;
    let fields = arguments.iter().filter(|argument| !argument.is_context()).map(Argument::as_field);
    let inputs = arguments.iter().map(Argument::as_input);
    let values = arguments.iter().map(Argument::as_value);
    Ok(quote! {
        #(#attrs)*
        #vis fn #name() -> ::steersman::tool::FnTool {
            #[derive(
                ::steersman::macro_support::serde::Deserialize,
                ::steersman::macro_support::schemars::JsonSchema,
            )]
            #[serde(crate = "::steersman::macro_support::serde")]
            #[schemars(crate = "::steersman::macro_support::schemars")]
            struct __Arguments {
                #(#fields,)*
            }
            async fn __call(#(#inputs),*) #output #block
            ::steersman::tool::typed(
                #called,
                #description,
                |__arguments: __Arguments, __context: ::steersman::tool::ToolContext| __call(#(#values),*),
            )
        }
    })
}

/// An argument of the function.
struct Argument<'a> {
    name: &'a Ident,
    typed: &'a PatType,
}

impl<'a> Argument<'a> {
    fn new(input: &'a FnArg) -> Result<Self> {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new(input.span(), "a tool takes no `self`"));
        };
        if let Type::Reference(reference) = &*typed.ty {
            return Err(Error::new(reference.span(), "a tool takes values, such as a `String`"));
        }
        match &*typed.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => Ok(Self { name: &pattern.ident, typed }),
            other => Err(Error::new(other.span(), "an argument of a tool is a name, which the model reads")),
        }
    }

    fn is_context(&self) -> bool {
        let Type::Path(path) = &*self.typed.ty else { return false };
        path.path.segments.last().is_some_and(|last| last.ident == "ToolContext")
    }

    fn as_field(&self) -> Tokens {
        let Self { name, typed: PatType { attrs, ty, .. } } = self;
        quote!(#(#attrs)* #name: #ty)
    }

    fn as_input(&self) -> Tokens {
        let PatType { pat, ty, .. } = self.typed;
        quote!(#pat: #ty)
    }

    fn as_value(&self) -> Tokens {
        let name = self.name;
        if self.is_context() { quote!(__context) } else { quote!(__arguments.#name) }
    }
}

/// Returns the text of the doc comments, without the space at the begin of a line.
fn documentation(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                let text = text.value();
                Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
            }
            _ => None,
        },
        Meta::NameValue(_) | Meta::Path(_) | Meta::List(_) => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn what_is_no_tool_says_why() {
        let cases: [(ItemFn, &str); 6] = [
            (
                parse_quote!(
                    async fn look() -> Answer {}
                ),
                "a doc comment",
            ),
            (
                parse_quote!(
                    #[doc = " Looks."]
                    fn look() -> Answer {}
                ),
                "`async fn`",
            ),
            (
                parse_quote!(
                    #[doc = " Looks."]
                    async fn look<T>(what: T) -> Answer {}
                ),
                "no type parameters",
            ),
            (
                parse_quote!(
                    #[doc = " Looks."]
                    async fn look(&self) -> Answer {}
                ),
                "no `self`",
            ),
            (
                parse_quote!(
                    #[doc = " Looks."]
                    async fn look(place: &str) -> Answer {}
                ),
                "a `String`",
            ),
            (
                parse_quote!(
                    #[doc = " Looks."]
                    async fn look((x, y): Place) -> Answer {}
                ),
                "is a name",
            ),
        ];
        for (function, why) in cases {
            let refused = write_tool(&function).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn the_description_is_the_doc_comment() {
        let function: ItemFn = parse_quote! {
            #[doc = " Looks."]
            #[doc = ""]
            #[doc = "     As deep as it goes."]
            #[inline]
            async fn look() -> Answer {}
        };
        assert_eq!(documentation(&function.attrs), "Looks.\n\n    As deep as it goes.");
    }
}
