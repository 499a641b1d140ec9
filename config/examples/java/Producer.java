import com.google.gson.Gson;
import com.rabbitmq.client.*;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.*;

/**
 * Publishes one job per device token, and prints the id of each job that the broker has confirmed.
 *
 * <p>usage: MARTLET_BROKER_URI=amqps://user:password@host/ java Producer.java TOPIC DEVICE_TOKEN...
 */
public class Producer {
    record Job(AMQP.BasicProperties properties, byte[] body) {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2) fail("usage: Producer TOPIC DEVICE_TOKEN...");
        String key = System.getenv().getOrDefault("MARTLET_ENVIRONMENT", "development") + ".normal." + arguments[0];
        List<Job> pending = new ArrayList<>();
        for (String deviceToken : List.of(arguments).subList(1, arguments.length)) pending.add(job(deviceToken));
        for (long pause = 1; pause < 200; pause *= 2) {
            String problem = "the queue is full";
            try (Connection connection = connect()) {
                publish(connection.createChannel(), key, pending);
            } catch (IOException | TimeoutException | ShutdownSignalException error) {
                problem = error + ", " + error.getCause();
                if (problem.contains("reply-code=403") || problem.contains("reply-code=404"))
                    fail("The broker refuses jobs. Run: martlet topology apply. It said: " + problem);
            }
            if (pending.isEmpty()) System.exit(0);
            System.err.printf("%d jobs not confirmed, %s; again in %d s%n", pending.size(), problem, pause);
            Thread.sleep(pause * 1000);
        }
        System.exit(1);
    }

    /** Makes id and deadline, which stay the same on every attempt to publish the job. */
    static Job job(String deviceToken) {
        long now = System.currentTimeMillis();
        var payload = Map.of("aps", Map.of("alert", "Order shipped"));
        return new Job(
            new AMQP.BasicProperties.Builder()
                .messageId(UUID.randomUUID().toString()).contentType("application/json").deliveryMode(2)
                .headers(Map.of("x-apns-enqueued-at", now, "x-apns-deadline", now + 3_600_000)).build(),
            new Gson().toJson(Map.of("device_token", deviceToken, "payload", payload))
                .getBytes(StandardCharsets.UTF_8));
    }

    /** Removes from the pending jobs those that the broker confirms. */
    static void publish(Channel channel, String key, List<Job> pending) throws Exception {
        AtomicBoolean returned = new AtomicBoolean();
        channel.addReturnListener(message -> returned.set(true)); // called before the confirm of a returned job
        channel.confirmSelect();
        for (Job job : List.copyOf(pending)) {
            channel.basicPublish("apns.jobs", key, true, job.properties(), job.body());
            boolean confirmed = channel.waitForConfirms(30_000);
            if (returned.get()) fail("The broker returned a job. Run: martlet topology check");
            if (!confirmed) continue; // the route's queue is full
            pending.remove(job);
            System.out.println(job.properties().getMessageId());
        }
    }

    static Connection connect() throws Exception {
        String uri = System.getenv("MARTLET_BROKER_URI");
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(uri.replaceAll("/$", "")); // a slash at the end would mean the virtual host ""
        factory.setAutomaticRecoveryEnabled(false); // main connects again
        if (uri.startsWith("amqps:")) {
            factory.useSslProtocol(SSLContext.getDefault()); // setUri alone trusts every certificate
            factory.setSocketConfigurator(socket -> {
                SSLParameters parameters = ((SSLSocket) socket).getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS"); // and the host's name counts
                ((SSLSocket) socket).setSSLParameters(parameters);
            });
        }
        // The client's own resolver would pass on the address alone, and the name could not be verified.
        Address address = new Address(factory.getHost(), factory.getPort());
        return factory.newConnection(new ListAddressResolver(List.of(address)));
    }

    static void fail(String reason) {
        System.err.println(reason);
        System.exit(1);
    }
}
