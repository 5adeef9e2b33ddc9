//! What an operator may say about the look of a room's pages, and what can be wrong with it.

use super::colour;
use super::own::Own;

/// What an operator says about the look. All of it may be left out.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The name above everything, and in the browser's tab.
    pub title: Option<String>,
    /// A few words to those who wait.
    pub message: Option<String>,
    /// A path on the same site (let it pass by a bypass rule), or a `data:` URI.
    pub logo: Option<String>,
    /// `#rgb` or `#rrggbb`.
    pub accent: Option<String>,
    /// The operator's own document for waiting and for one's turn.
    pub own: Option<String>,
    /// The pages may be shown inside other sites' pages (`cookies = "partitioned"`).
    pub framed: bool,
    /// Visitors have names, and see each other's.
    pub roster: bool,
}

/// Visitors load it again and again while they wait.
const MAX_OWN: usize = 256 * 1024;

impl Look {
    /// Everything that would not work, in words for the operator.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(accent) = &self.accent
            && colour::parse(accent).is_none()
        {
            problems.push(format!("accent = {accent:?} is not a colour: write #rgb or #rrggbb"));
        }
        if let Some(logo) = &self.logo
            && !is_logo(logo)
        {
            problems.push(
                "logo must be a path on this site (\"/logo.svg\") or a data:image/… URI: the pages load nothing from elsewhere"
                    .to_owned(),
            );
        }
        if let Some(own) = &self.own {
            if own.len() > MAX_OWN {
                let kib = own.len() / 1024;
                problems.push(format!(
                    "the own page has {kib} KiB: visitors load it over and over, keep it below {} KiB",
                    MAX_OWN / 1024
                ));
            }
            problems.extend(Own::new(own).problems());
        }
        problems
    }

    pub(super) fn good_logo(&self) -> Option<&str> {
        self.logo.as_deref().map(str::trim).filter(|logo| is_logo(logo))
    }
}

fn is_logo(logo: &str) -> bool {
    let logo = logo.trim();
    let path = logo.starts_with('/') && !logo.starts_with("//") && !logo.contains('\\');
    let data = logo.get(..11).is_some_and(|start| start.eq_ignore_ascii_case("data:image/"));
    (path || data) && !logo.contains(char::is_control)
}
