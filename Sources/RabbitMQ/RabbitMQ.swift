// RabbitMQ
