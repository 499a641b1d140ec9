/// The page for people: one document without anything from elsewhere, made of the files in `Page`.
///
/// Whatever comes from outside is put in as text, never as markup.
enum PageText {
    /// The whole page.
    static let html = text(PackageResources.page_html)
        .replacing("/* page.css */", with: text(PackageResources.page_css))
        .replacing("/* page.js */", with: text(PackageResources.page_js))

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
