// LocalStack
