extension ConfigurationBuilder {
    /// Reads an address for each environment.
    func addresses(_ section: SettingReader, defaults: APNSAddresses) -> APNSAddresses {
        APNSAddresses(
            production: section.optional("production", SettingParsers.apnsAddress)?.value ?? defaults.production,
            development: section.optional("development", SettingParsers.apnsAddress)?.value ?? defaults.development)
    }
}
