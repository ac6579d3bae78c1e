package reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Transactions of producers: committed, aborted, fenced, late, with offsets of groups. */
public final class Transactions extends Program {
    private Producer<String, String> transactional(String id, Object... more) {
        var settings = new ArrayList<Object>(List.of("transactional.id", name(id)));
        settings.addAll(List.of(more));
        var producer = producer(settings.toArray());
        producer.initTransactions();
        return producer;
    }

    private static void send(Producer<String, String> producer, String topic, String value) throws Exception {
        producer.send(new ProducerRecord<>(topic, 0, "k", value)).get();
    }

    private List<String> found(String topic, String isolation, int count) {
        var consumer = consumer("isolation.level", isolation);
        consumer.assign(List.of(partition(topic, 0)));
        return read(consumer, count, 20).stream().map(r -> r.offset() + "=" + r.value()).toList();
    }

    @Trial
    public void committed_and_aborted() throws Exception {
        var topic = topic("t", 1);
        see("three", () -> {
            var producer = transactional("p");
            for (var value : List.of("first", "aborted", "last")) {
                producer.beginTransaction();
                send(producer, topic, value);
                if (value.equals("aborted")) producer.abortTransaction();
                else producer.commitTransaction();
            }
            return "done";
        });
        see("read committed", () -> found(topic, "read_committed", 2));
        see("read uncommitted", () -> found(topic, "read_uncommitted", 3));
        see("the end", () -> {
            var consumer = consumer();
            return consumer.endOffsets(List.of(partition(topic, 0))).get(partition(topic, 0));
        });
        see("nothing sent", () -> {
            var producer = transactional("q");
            producer.beginTransaction();
            producer.commitTransaction();
            return "committed";
        });
    }

    @Trial
    public void open() throws Exception {
        var topic = topic("t", 1);
        var producer = transactional("p");
        producer.beginTransaction();
        send(producer, topic, "open");
        see("listed", () -> admin().listTransactions().all().get().stream().filter(t -> t.transactionalId().equals(name("p"))).map(t -> t.transactionalId() + " " + t.state()).toList());
        see("described", () -> String.valueOf(admin().describeTransactions(List.of(name("p"))).all().get().get(name("p"))).replaceAll("producerId=\\d+", "producerId=P"));
        see("one that is not there", () -> admin().describeTransactions(List.of(name("none"))).all().get());
        see("its producer", () -> admin().describeProducers(List.of(partition(topic, 0))).all().get().get(partition(topic, 0)).activeProducers().stream().map(p -> p.producerEpoch() + " " + p.lastSequence() + " " + p.coordinatorEpoch() + " " + p.currentTransactionStartOffset()).toList());
        see("the end of what is committed", () -> admin().listOffsets(Map.of(partition(topic, 0), org.apache.kafka.clients.admin.OffsetSpec.latest()), new org.apache.kafka.clients.admin.ListOffsetsOptions(org.apache.kafka.common.IsolationLevel.READ_COMMITTED)).partitionResult(partition(topic, 0)).get().offset());
        see("one aborted that is not there", () -> admin().abortTransaction(new AbortTransactionSpec(partition(topic, 0), 999_999, (short) 0, 0)).all().get());
        see("fenced by an administrator", () -> admin().fenceProducers(List.of(name("p"))).all().get());
        see("its commit then", () -> {
            producer.commitTransaction();
            return "committed";
        });
        see("ended by force", () -> {
            var other = transactional("q");
            other.beginTransaction();
            send(other, topic, "forced");
            admin().forceTerminateTransaction(name("q")).result().get();
            other.commitTransaction();
            return "committed";
        });
    }

    @Trial
    public void fenced_by_another() throws Exception {
        var topic = topic("t", 1);
        var old = transactional("p");
        old.beginTransaction();
        send(old, topic, "old");
        var young = transactional("p");
        see("the old one", () -> {
            old.commitTransaction();
            return "committed";
        });
        see("the young one", () -> {
            young.beginTransaction();
            send(young, topic, "new");
            young.commitTransaction();
            return found(topic, "read_committed", 1);
        });
    }

    @Trial
    public void too_late() throws Exception {
        var topic = topic("t", 1);
        var producer = transactional("p", "transaction.timeout.ms", 1_500);
        producer.beginTransaction();
        send(producer, topic, "late");
        see("aborted by the broker", () -> within(40, () -> admin().describeTransactions(List.of(name("p"))).all().get().get(name("p")).state().toString().equals("CompleteAbort")));
        see("its commit", () -> {
            producer.commitTransaction();
            return "committed";
        });
        see("a time-out beyond what is allowed", () -> transactional("q", "transaction.timeout.ms", 90_000_000) != null);
    }

    @Trial
    public void with_offsets() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 5);
        var partition = partition(topic, 0);
        for (var protocol : List.of("classic", "consumer"))
            see("of a group that is " + protocol, () -> {
                var group = name(protocol);
                var producer = transactional("p" + protocol);
                var consumer = consumer("group.id", group, "group.protocol", protocol, "enable.auto.commit", "false");
                consumer.subscribe(List.of(topic));
                read(consumer, 5, 30);
                producer.beginTransaction();
                producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(3)), consumer.groupMetadata());
                producer.commitTransaction();
                return consumer.committed(Set.of(partition)).get(partition);
            });
        see("aborted", () -> {
            var producer = transactional("aborted");
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(1)), new ConsumerGroupMetadata(name("aborted")));
            producer.abortTransaction();
            return consumer("group.id", name("aborted")).committed(Set.of(partition)).get(partition);
        });
        for (var protocol : List.of("classic", "consumer"))
            see("of a member that has left, " + protocol, () -> {
                var producer = transactional("z" + protocol);
                var consumer = consumer("group.id", name("z" + protocol), "group.protocol", protocol, "enable.auto.commit", "false");
                consumer.subscribe(List.of(topic));
                read(consumer, 1, 30);
                var member = consumer.groupMetadata();
                consumer.close();
                producer.beginTransaction();
                producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(1)), member);
                producer.commitTransaction();
                return "committed";
            });
    }
}
