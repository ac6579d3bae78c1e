package reference;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.common.utils.internals.Exit;

/** The commands that come with Kafka, as they are typed; what they print is compared. */
public final class Tools extends Program {
    private static final String PACKAGE = "org.apache.kafka.tools.";

    private static final Pattern NOISE = Pattern.compile("\\tat |\\[.*(WARN|INFO|ERROR)|java\\.util\\.concurrent\\.Exec|Caused by:|.* : null$|null$|reference\\.Tools|The consumer rebalance protocol");
    private static final String SENTENCE = "(org\\.apache\\.kafka\\.common\\.errors\\.\\w+): .*"; // ours differ

    /** What a command ends its process by; some catch it, and exit again. */
    private static final class Exited extends RuntimeException {}

    private static final ThreadLocal<Integer> EXITED = new ThreadLocal<>();

    private static void exit(int code, String message) {
        if (EXITED.get() == null) EXITED.set(code);
        throw new Exited();
    }

    static {
        Exit.setExitProcedure(Tools::exit);
        Exit.setHaltProcedure(Tools::exit);
        System.setIn(Output.typed());
    }

    /** What a command prints, and its exit code if it is not 0. */
    private String run(String typed, String command, String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of("--bootstrap-server", servers));
        if (command.equals("ClusterTool")) all = new ArrayList<>(List.of(words[0], "--bootstrap-server", servers));
        else all.addAll(List.of(words));
        var main = Class.forName(PACKAGE + command).getMethod("main", String[].class);
        if (command.startsWith("consumer.Console"))
            synchronized (Tools.class) { // they count in static fields
                return run(typed, command, main, all);
            }
        return run(typed, command, main, all);
    }

    private String run(String typed, String command, Method main, List<String> all) throws Exception {
        if (command.startsWith("consumer.Console")) {
            var counted = main.getDeclaringClass().getDeclaredField("messageCount");
            counted.setAccessible(true);
            counted.setInt(null, 0);
        }
        EXITED.remove();
        var printed = Output.of(typed, () -> {
            try {
                main.invoke(null, (Object) all.toArray(String[]::new));
            } catch (InvocationTargetException error) {
                var cause = error.getCause();
                while (cause != null && !(cause instanceof Exited)) cause = cause.getCause();
                if (cause == null) throw error;
            }
        });
        var lines = printed.lines().filter(l -> !l.isBlank() && !NOISE.matcher(l).lookingAt()).map(l -> l.strip().replaceAll("\\s+", " ").replaceAll(SENTENCE, "$1")).toList();
        return String.join("\n", lines) + (EXITED.get() == null || EXITED.get() == 0 ? "" : "\nexit " + EXITED.get());
    }

    private void tell(String call, String command, String... words) {
        see(call, () -> run("", command, words));
    }

    @Trial
    public void topics() throws Exception {
        tell("create", "TopicCommand", "--create", "--topic", name("t"), "--partitions", "2", "--config", "retention.ms=3600000");
        within(20, () -> admin().listTopics().names().get().contains(name("t")));
        tell("create again", "TopicCommand", "--create", "--topic", name("t"));
        tell("create if there is none", "TopicCommand", "--create", "--topic", name("t"), "--if-not-exists");
        tell("describe", "TopicCommand", "--describe", "--topic", name("t"));
        tell("grow", "TopicCommand", "--alter", "--topic", name("t"), "--partitions", "3");
        within(20, () -> admin().describeTopics(List.of(name("t"))).allTopicNames().get().get(name("t")).partitions().size() == 3);
        tell("describe the grown", "TopicCommand", "--describe", "--topic", name("t"));
        tell("list", "TopicCommand", "--list", "--topic", name("t"));
        tell("with settings", "TopicCommand", "--describe", "--topics-with-overrides", "--topic", name("t"));
        tell("at the least of replicas", "TopicCommand", "--describe", "--at-min-isr-partitions", "--topic", name("t"));
        tell("under-replicated", "TopicCommand", "--describe", "--under-replicated-partitions", "--topic", name("t"));
        tell("delete", "TopicCommand", "--delete", "--topic", name("t"));
        tell("delete one that is not there", "TopicCommand", "--delete", "--topic", name("none"));
    }

    @Trial
    public void console() throws Exception {
        var topic = topic("t", 1);
        see("produce", () -> run("a:1\nb:2\nc:3\n", "ConsoleProducer", "--topic", topic, "--reader-property", "parse.key=true", "--reader-property", "key.separator=:"));
        tell("consume", "consumer.ConsoleConsumer", "--topic", topic, "--from-beginning", "--max-messages", "3", "--timeout-ms", "20000", "--formatter-property", "print.key=true");
        tell("consume in a group", "consumer.ConsoleConsumer", "--topic", topic, "--group", name("g"), "--from-beginning", "--max-messages", "3", "--timeout-ms", "20000");
        tell("offsets", "GetOffsetShell", "--topic", topic, "--time", "-1");
        tell("first offsets", "GetOffsetShell", "--topic", topic, "--time", "earliest");
        see("delete records", () -> {
            var file = Files.createTempFile("delete-records", ".json");
            Files.writeString(file, "{\"partitions\":[{\"topic\":\"" + topic + "\",\"partition\":0,\"offset\":1}],\"version\":1}");
            try {
                return run("", "DeleteRecordsCommand", "--offset-json-file", file.toString());
            } finally {
                Files.delete(file);
            }
        });
        see("latency", () -> run("", "EndToEndLatency", "--topic", name("latency"), "--num-records", "50", "--producer-acks", "1", "--record-size", "50").replaceAll("[0-9]+(\\.[0-9]+)?", "N"));
    }

    @Trial
    public void consumer_groups() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 3);
        var command = "consumer.group.ConsumerGroupCommand";
        tell("consume", "consumer.ConsoleConsumer", "--topic", topic, "--group", name("g"), "--from-beginning", "--max-messages", "3", "--timeout-ms", "20000");
        within(20, () -> admin().describeConsumerGroups(List.of(name("g"))).all().get().get(name("g")).members().isEmpty());
        tell("describe", command, "--describe", "--group", name("g"));
        tell("members", command, "--describe", "--group", name("g"), "--members", "--verbose");
        tell("state", command, "--describe", "--group", name("g"), "--state");
        tell("describe one that is not there", command, "--describe", "--group", name("none"));
        tell("reset, tried", command, "--reset-offsets", "--group", name("g"), "--topic", topic, "--to-earliest", "--dry-run");
        tell("reset by one", command, "--reset-offsets", "--group", name("g"), "--all-topics", "--shift-by", "-1", "--execute");
        tell("reset to a time", command, "--reset-offsets", "--group", name("g"), "--topic", topic + ":0", "--to-datetime", "2020-01-01T00:00:00.000", "--export");
        tell("reset by a duration", command, "--reset-offsets", "--group", name("g"), "--topic", topic, "--by-duration", "PT1H", "--dry-run");
        tell("delete offsets", command, "--delete-offsets", "--group", name("g"), "--topic", topic);
        tell("delete", command, "--delete", "--group", name("g"));
        tell("delete again", command, "--delete", "--group", name("g"));
    }

    @Trial
    public void share_groups() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 3);
        var command = "consumer.group.ShareGroupCommand";
        set(org.apache.kafka.common.config.ConfigResource.Type.GROUP, name("g"), "share.auto.offset.reset", "earliest");
        tell("consume", "consumer.ConsoleShareConsumer", "--topic", topic, "--group", name("g"), "--max-messages", "3", "--timeout-ms", "30000");
        within(20, () -> admin().describeShareGroups(List.of(name("g"))).all().get().get(name("g")).members().isEmpty());
        tell("describe", command, "--describe", "--group", name("g"));
        tell("members", command, "--describe", "--group", name("g"), "--members", "--verbose");
        tell("state", command, "--describe", "--group", name("g"), "--state");
        tell("reset", command, "--reset-offsets", "--group", name("g"), "--topic", topic, "--to-earliest", "--execute");
        tell("delete offsets", command, "--delete-offsets", "--group", name("g"), "--topic", topic);
        tell("delete", command, "--delete", "--group", name("g"));
    }

    @Trial
    public void settings() throws Exception {
        var topic = topic("t", 1);
        var command = "ConfigCommand";
        tell("describe", command, "--describe", "--entity-type", "topics", "--entity-name", topic);
        tell("alter", command, "--alter", "--entity-type", "topics", "--entity-name", topic, "--add-config", "max.message.bytes=2000");
        within(20, () -> run("", command, "--describe", "--entity-type", "topics", "--entity-name", topic).contains("2000"));
        tell("describe the altered", command, "--describe", "--entity-type", "topics", "--entity-name", topic);
        tell("of a group", command, "--alter", "--entity-type", "groups", "--entity-name", name("g"), "--add-config", "share.auto.offset.reset=earliest");
        tell("of a user", command, "--alter", "--entity-type", "users", "--entity-name", name("alice"), "--add-config", "producer_byte_rate=1024");
        within(20, () -> run("", command, "--describe", "--entity-type", "users", "--entity-name", name("alice")).contains("1024"));
        tell("describe a user", command, "--describe", "--entity-type", "users", "--entity-name", name("alice"));
    }

    @Trial
    public void cluster() throws Exception {
        var topic = topic("t", 1);
        see("log folders", () -> run("", "LogDirsCommand", "--describe", "--topic-list", topic).replaceAll("\"logDir\":\"[^\"]*\"", "\"logDir\":FOLDER"));
        tell("transactions", "TransactionsCommand", "list", "--transactional-id-pattern", name("none"));
        tell("producers", "TransactionsCommand", "describe-producers", "--topic", topic, "--partition", "0");
        tell("hanging transactions", "TransactionsCommand", "find-hanging", "--topic", topic, "--partition", "0");
        for (var line : run("", "FeatureCommand", "describe").split("\n")) see(line.split(" ")[1], () -> line.replaceAll("Epoch: \\d+", "Epoch: N"));
        tell("cluster id", "ClusterTool", "cluster-id");
        see("endpoints", () -> run("", "ClusterTool", "list-endpoints").replaceAll("127.0.0.1 \\d+", "127.0.0.1 PORT"));
        tell("election", "LeaderElectionCommand", "--election-type", "preferred", "--topic", topic, "--partition", "0");
        tell("on the move", "reassign.ReassignPartitionsCommand", "--list");
        tell("client metrics", "ClientMetricsCommand", "--list");
        tell("streams groups", "streams.StreamsGroupCommand", "--describe", "--group", name("none"));
        tell("rights", "AclCommand", "--list");
    }
}
