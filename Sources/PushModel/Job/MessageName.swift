/// The constants of messages that are not header names.
package enum MessageName {
    /// The content type of a raw job.
    package static var rawContentType: StaticString { "application/vnd.apns.payload+json" }
    /// The content type of an enveloped job, and of results.
    package static var jsonContentType: StaticString { "application/json" }
    /// The property `type` of a result.
    package static var resultType: StaticString { "apns.result.v1" }
    /// The property `type` of a message with several results.
    package static var resultBatchType: StaticString { "apns.results.v1" }
    /// The value of `HeaderName.results`, and of the job's field `results`.
    package static var batch: StaticString { "batch" }
    /// The value of `HeaderName.duplicate` on results, and of the result's field `duplicate`.
    package static var suppressed: StaticString { "suppressed" }
    /// The value of `HeaderName.duplicate` on retry copies.
    package static var possible: StaticString { "possible" }
}
