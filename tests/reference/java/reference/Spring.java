package reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.requestreply.ReplyingKafkaTemplate;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationSupport;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

/** An application of Spring Kafka: an error handler with dead letters, retry topics, batches, transactions, request and reply. */
public final class Spring extends Program {
    /** What the listeners have seen, by application: each has its own topics. */
    static final Map<String, Map<String, List<String>>> HEARD = new ConcurrentHashMap<>();

    @Trial
    public void an_application() throws Exception {
        for (var of : List.of("orders", "orders-dlt", "in", "out", "requests", "replies", "retried")) topic(of, 1);
        Map<String, List<String>> heard = new ConcurrentHashMap<>();
        HEARD.put(name("") + servers, heard);
        var context = new AnnotationConfigApplicationContext();
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("trial", Map.of("servers", servers, "prefix", name(""))));
        context.register(Application.class, RetryTopics.class);
        context.refresh();
        open(context);
        KafkaTemplate<String, String> template = template(context);
        for (int i = 0; i < 10; i++) template.send(name("orders"), "k" + i, "o" + i).get();
        for (int i = 0; i < 4; i++) template.send(name("retried"), "k" + i, "r" + i).get();
        for (int i = 0; i < 4; i++) template.send(name("in"), "k" + i, "i" + i).get();
        see("a reply", () -> {
            @SuppressWarnings("unchecked")
            ReplyingKafkaTemplate<String, String, String> replying = context.getBean(ReplyingKafkaTemplate.class);
            replying.waitForAssignment(Duration.ofSeconds(30));
            return replying.sendAndReceive(new ProducerRecord<>(name("requests"), "k", "hello"), Duration.ofSeconds(30)).get(30, TimeUnit.SECONDS).value();
        });
        Map<String, Integer> wanted = new TreeMap<>(Map.of("order", 12, "dead", 1, "batch", 10, "retried", 6, "retried.dead", 1, "in", 5));
        see("all heard", () -> within(60, () -> wanted.entrySet().stream().allMatch(e -> heard.getOrDefault(e.getKey(), List.of()).size() >= e.getValue())));
        for (var what : wanted.keySet()) see(what, () -> heard.getOrDefault(what, List.of()).stream().sorted().toList());
        see("written in transactions", () -> {
            var consumer = consumer("isolation.level", "read_committed");
            consumer.assign(List.of(partition(name("out"), 0)));
            return values(read(consumer, 4, 30));
        });
    }

    @SuppressWarnings("unchecked")
    private static KafkaTemplate<String, String> template(AnnotationConfigApplicationContext context) {
        return (KafkaTemplate<String, String>) context.getBean("template");
    }

    /** Retry topics. */
    @Configuration
    public static class RetryTopics extends RetryTopicConfigurationSupport {
        @Bean
        TaskScheduler scheduler() {
            return new ThreadPoolTaskScheduler();
        }
    }

    /** The beans of the application. */
    @Configuration
    @EnableKafka
    public static class Application {
        private final Environment environment;
        private final ApplicationContext context;

        Application(Environment environment, ApplicationContext context) {
            this.environment = environment;
            this.context = context;
        }

        private Map<String, List<String>> heard() {
            return HEARD.get(environment.getProperty("prefix") + environment.getProperty("servers"));
        }

        private void hear(String what, Object value) {
            heard().computeIfAbsent(what, w -> Collections.synchronizedList(new ArrayList<>())).add(String.valueOf(value));
        }

        private Map<String, Object> settings(Object... more) {
            Map<String, Object> all = new HashMap<>(Map.of("bootstrap.servers", environment.getProperty("servers")));
            for (int i = 0; i < more.length; i += 2) all.put((String) more[i], more[i + 1]);
            return all;
        }

        @Bean
        KafkaAdmin admin() {
            var admin = new KafkaAdmin(settings());
            admin.setFatalIfBrokerNotAvailable(true);
            return admin;
        }

        @Bean
        NewTopic made() {
            return TopicBuilder.name(environment.getProperty("prefix") + "made").partitions(2).build();
        }

        private ProducerFactory<String, String> producers(String transactions) {
            var factory = new DefaultKafkaProducerFactory<>(settings(), new StringSerializer(), new StringSerializer());
            if (transactions != null) factory.setTransactionIdPrefix(environment.getProperty("prefix") + transactions);
            return factory;
        }

        private ConsumerFactory<String, String> consumers(Object... more) {
            var settings = settings(more);
            settings.put("auto.offset.reset", "earliest");
            return new DefaultKafkaConsumerFactory<>(settings, new StringDeserializer(), new StringDeserializer());
        }

        @Bean
        @Primary
        KafkaTemplate<String, String> template() {
            return new KafkaTemplate<>(producers(null));
        }

        @Bean
        ProducerFactory<String, String> transactionalProducers() {
            return producers("tx-");
        }

        @Bean
        KafkaTemplate<String, String> transactionalTemplate(@Qualifier("transactionalProducers") ProducerFactory<String, String> factory) {
            return new KafkaTemplate<>(factory);
        }

        @Bean
        KafkaTransactionManager<String, String> transactionManager(@Qualifier("transactionalProducers") ProducerFactory<String, String> factory) {
            return new KafkaTransactionManager<>(factory);
        }

        private ConcurrentKafkaListenerContainerFactory<String, String> containers(ConsumerFactory<String, String> consumers) {
            var factory = new ConcurrentKafkaListenerContainerFactory<String, String>();
            factory.setConsumerFactory(consumers);
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(KafkaTemplate<String, String> template) {
            var factory = containers(consumers());
            factory.setReplyTemplate(template);
            var recoverer = new DeadLetterPublishingRecoverer(template);
            factory.setCommonErrorHandler(new DefaultErrorHandler(recoverer, new FixedBackOff(100, 2)));
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<String, String> batches() {
            var factory = containers(consumers("group.protocol", "consumer"));
            factory.setBatchListener(true);
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<String, String> transactional(KafkaTransactionManager<String, String> manager) {
            var factory = containers(consumers("isolation.level", "read_committed"));
            factory.getContainerProperties().setKafkaAwareTransactionManager(manager);
            return factory;
        }

        @Bean
        ReplyingKafkaTemplate<String, String, String> replying() {
            var prefix = environment.getProperty("prefix");
            var container = new KafkaMessageListenerContainer<>(consumers("group.id", prefix + "replies"), new ContainerProperties(prefix + "replies"));
            return new ReplyingKafkaTemplate<>(producers(null), container);
        }

        @KafkaListener(id = "order", groupId = "${prefix}orders", topics = "${prefix}orders")
        public void order(ConsumerRecord<String, String> record) {
            hear("order", record.value());
            if (record.value().endsWith("7")) throw new IllegalStateException("poison");
        }

        @KafkaListener(id = "dead", groupId = "${prefix}dead", topics = "${prefix}orders-dlt")
        public void dead(ConsumerRecord<String, String> record) {
            hear("dead", record.value() + " " + (record.headers().lastHeader("kafka_dlt-original-offset") != null));
        }

        @KafkaListener(id = "batch", groupId = "${prefix}batches", topics = "${prefix}orders", containerFactory = "batches")
        public void batch(List<String> values) {
            for (var value : values) hear("batch", value);
        }

        @RetryableTopic(attempts = "3", backOff = @BackOff(delay = 200), kafkaTemplate = "template")
        @KafkaListener(id = "retried", groupId = "${prefix}retried", topics = "${prefix}retried")
        public void retried(String value) {
            hear("retried", value);
            if (value.endsWith("2")) throw new IllegalStateException("again");
        }

        @DltHandler
        public void given_up(String value) {
            hear("retried.dead", value);
        }

        @KafkaListener(id = "in", groupId = "${prefix}in", topics = "${prefix}in", containerFactory = "transactional")
        @SuppressWarnings("unchecked")
        public void in(ConsumerRecord<String, String> record) {
            hear("in", record.value());
            context.getBean("transactionalTemplate", KafkaTemplate.class).send(environment.getProperty("prefix") + "out", record.key(), "out of " + record.value());
            boolean first = heard().get("in").stream().filter(record.value()::equals).count() == 1;
            if (record.value().equals("i2") && first) throw new IllegalStateException("abort");
        }

        @KafkaListener(id = "request", groupId = "${prefix}requests", topics = "${prefix}requests")
        @SendTo
        public String reply(String value) {
            return value.toUpperCase();
        }
    }
}
