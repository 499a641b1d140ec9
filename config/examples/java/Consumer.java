import com.google.gson.*;
import com.rabbitmq.client.*;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import javax.net.ssl.*;

/**
 * Consumes results, and prints job id, index, outcome and action of each.
 *
 * <p>usage: MARTLET_BROKER_URI=amqps://user:password@host/ java Consumer.java COUNT      (0: for ever)
 */
public class Consumer {
    static final String QUEUE = System.getenv().getOrDefault("MARTLET_RESULTS_QUEUE", "apns.q.results");
    static final Set<String> OUTCOMES =
        Set.of("accepted", "dead_token", "rejected", "expired", "exhausted", "unknown", "invalid", "cancelled");
    static final Map<String, Integer> outcomes = new TreeMap<>();
    static int handled = 0;
    /** A real program keeps these ids for a day in its database, and writes them with what it does about a result. */
    static final Map<String, Boolean> seen = new LinkedHashMap<>() {
        @Override protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) { return size() > 100_000; }
    };

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        for (long pause = 1; count == 0 || handled < count; pause = Math.min(2 * pause, 30)) {
            int before = handled;
            try (Connection connection = connect()) {
                consume(connection.createChannel(), count);
            } catch (IOException | TimeoutException | ShutdownSignalException error) {
                if (handled > before) pause = 1;
                System.err.printf("Lost the broker, %s, %s; again in %d s%n", error, error.getCause(), pause);
                Thread.sleep(pause * 1000);
            }
        }
        System.err.println("Outcomes: " + outcomes);
        System.exit(0);
    }

    /** Takes results until there are enough, or the connection, the channel or the consumer ends. */
    static void consume(Channel channel, int count) throws Exception {
        BlockingQueue<Optional<Delivery>> inbox = new LinkedBlockingQueue<>(); // the prefetch bounds it
        channel.basicQos(200);
        channel.basicConsume(QUEUE, false, (tag, delivery) -> inbox.add(Optional.of(delivery)),
            tag -> inbox.add(Optional.empty()), (tag, reason) -> inbox.add(Optional.empty()));
        while (count == 0 || handled < count) {
            Delivery delivery = inbox.take().orElseThrow(() -> new IOException("the consumer ended"));
            for (Map.Entry<String, JsonObject> result : results(delivery).entrySet()) {
                String key = result.getKey() + " " + result.getValue().get("outcome").getAsString();
                if (seen.containsKey(key)) continue;
                handle(result.getValue());
                seen.put(key, true);
            }
            channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false); // only now: else it comes again
        }
    }

    /** The results of a message by their ids: one, or several where results.batch is configured. */
    static Map<String, JsonObject> results(Delivery delivery) {
        AMQP.BasicProperties properties = delivery.getProperties();
        JsonObject top = JsonParser.parseString(new String(delivery.getBody(), StandardCharsets.UTF_8)).getAsJsonObject();
        if (!"apns.results.v1".equals(properties.getType())) return Map.of(properties.getMessageId(), top);
        Map<String, JsonObject> results = new LinkedHashMap<>();
        for (JsonElement entry : top.remove("results").getAsJsonArray()) {
            JsonObject result = top.deepCopy(); // what the entry lacks stands at the top
            entry.getAsJsonObject().entrySet().forEach(field -> result.add(field.getKey(), field.getValue()));
            results.put(result.get("message_id").getAsString(), result);
        }
        return results;
    }

    /** Does what the action says. Fields that this program does not know stay unread. */
    static void handle(JsonObject result) {
        String outcome = result.get("outcome").getAsString(), action = result.get("action").getAsString();
        String where = result.get("job_id").getAsString() + " " + result.get("index").getAsInt();
        String advice = switch (action) {
            case "none" -> null;
            // Mark it now, and delete it an hour later unless a hold of the route came meanwhile:
            // UPDATE device_tokens SET dead_since = COALESCE(:token_invalid_since, :finished_at)
            // WHERE token = :device_token AND topic = :topic AND environment = :environment
            // AND registered_at <= COALESCE(:token_invalid_since, :finished_at)
            case "drop_token" -> "forget the device token, dead since " + result.get("token_invalid_since");
            case "hold" -> "delete nothing, tell the operator of route " + result.get("route");
            case "fix_request", "fix_topic", "fix_credential" ->
                action + ": " + result.get("reason") + ", " + result.get("detail");
            case "replay" -> "publish it again when the trouble is over";
            case "check" -> "find out whether the push arrived";
            default -> "unknown action " + action;
        };
        if (advice != null) System.err.println(where + ": " + advice);
        System.out.println(where + " " + outcome + " " + action);
        outcomes.merge(OUTCOMES.contains(outcome) ? outcome : "other", 1, Integer::sum);
        handled++;
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
}
