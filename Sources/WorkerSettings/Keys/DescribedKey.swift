/// A key of any type of value; how ``WorkerKeys`` finds the keys among its properties.
protocol DescribedKey {
    /// What is known of the key.
    var facts: KeyFacts { get }
}

extension SettingKey: DescribedKey {}
