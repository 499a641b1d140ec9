// APNSClient
