//! What is said of the calls to programs: the OpenAPI document.
//!
//! Owns what all calls have in common: the key, the tenant's header, and how they are refused. That is put to each of them
//! here, by what it takes, so that a call says of itself only what is its own, and none can be forgotten. The calls' own part is
//! made from the calls.

use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Type,
};
use utoipa::{Modify, OpenApi};

use super::refusal::ErrorBody;

/// What the document says of itself.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Anteroom, for operators",
        description = "Rooms as they are, and the verbs to steer them.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(ErrorBody)),
    modifiers(&Common),
    security(("key" = []))
)]
pub(super) struct Document;

/// The response of every refusal, by its name in the document.
const REFUSED: &str = "Refused";

const TENANT: &str = "X-Tenant-ID";
/// Of a tenant's name: see [`crate::name`].
const TENANT_PATTERN: &str = "^[A-Za-z0-9._-]{1,126}$";

struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let key = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("key", key);
        components.responses.insert(REFUSED.to_owned(), refused().into());
    }
}

fn refused() -> Response {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
    let description = "Not done. `code` says why to programs, `message` to people; `Retry-After`, where it is, when to try again";
    ResponseBuilder::new().description(description).content("application/json", body).build()
}

/// Says of every call what is true of its like.
pub(super) fn complete(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    for (path, item) in &mut document.paths.paths {
        let PathItem { get, put, post, delete, patch, .. } = item;
        for operation in [get, put, post, delete, patch].into_iter().flatten() {
            put_refusals(operation, path.contains('{'));
            put_tenant(operation);
        }
    }
    document
}

/// Whether a call asks nobody who they are.
fn is_open(operation: &Operation) -> bool {
    let nothing = serde_json::json!([{}]);
    let security = operation.security.as_ref().and_then(|asked| serde_json::to_value(asked).ok());
    security == Some(nothing)
}

fn put_refusals(operation: &mut Operation, names_something: bool) {
    let mut statuses = vec!["431"];
    if !is_open(operation) {
        statuses.extend(["400", "401", "403", "429", "503"]);
    }
    if names_something {
        statuses.push("404");
    }
    if operation.request_body.is_some() {
        statuses.extend(["408", "413", "415"]);
    }
    for status in statuses {
        let refused = || RefOr::Ref(Ref::from_response_name(REFUSED));
        operation.responses.responses.entry(status.to_owned()).or_insert_with(refused);
    }
}

/// A call that takes every tenant's rooms together says so itself.
fn put_tenant(operation: &mut Operation) {
    if is_open(operation) {
        return;
    }
    let parameters = operation.parameters.get_or_insert_default();
    let named = |parameter: &RefOr<Parameter>| match parameter {
        RefOr::T(parameter) => parameter.name == TENANT,
        RefOr::Ref(_) => false,
    };
    if parameters.iter().any(named) {
        return;
    }
    let name = ObjectBuilder::new().schema_type(Type::String).pattern(Some(TENANT_PATTERN));
    let parameter = ParameterBuilder::new()
        .name(TENANT)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("Whose rooms, for a key without a tenant"))
        .schema(Some(name));
    parameters.push(parameter.build().into());
}
