package dev.sluice.kubequeue;

import static dev.sluice.kubequeue.QuotaTrees.find;
import static dev.sluice.kubequeue.QuotaTrees.ids;
import static dev.sluice.kubequeue.QuotaTrees.queue;
import static dev.sluice.kubequeue.QuotaTrees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QueueOverrides.QueueOverride;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaSources.SourceNote;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Queues: how quotas are shown, and what people say by them. */
class QueueOverridesTest {

  private static final QuotaTree TREE =
      tree(
          """
          max: {cpu: 9}
          children:
          - {name: a, namespaces: [a]}
          - {name: b, namespaces: [b]}
          """);
  private static final ObjectId SHOWN = new ObjectId(ObjectKind.QUEUE, "kube-queue", "root-a");

  private final List<GenericKubernetesResource> queues = new ArrayList<>();
  private List<SourceNote> notes = List.of();

  private void given(String yaml) {
    queues.add(
        JsonMappers.JSON.convertValue(QuotaTrees.yaml(yaml), GenericKubernetesResource.class));
  }

  private QueueOverride of(QuotaDeclaration quota, Map<QuotaSource, String> objects) {
    Map<QuotaSource, GenericKubernetesResource> read = new HashMap<>();
    objects.forEach(
        (source, yaml) ->
            read.put(
                source,
                JsonMappers.JSON.convertValue(
                    QuotaTrees.yaml(yaml), GenericKubernetesResource.class)));
    QueueOverrides overrides =
        new QueueOverrides(QuotaTrees.settings(1.0, QuotaLabel.LISTED), queues, read);
    QueueOverride override = overrides.of(quota);
    notes = overrides.notes();
    return override;
  }

  private QueueOverride ofA() {
    return of(TREE.root().children().getFirst(), Map.of());
  }

  private static String shown(String policy, String rest) {
    return """
    metadata:
      name: root-a
      namespace: kube-queue
      labels: {sluice.dev/mirror: "true"}
      annotations:
        sluice.dev/source-kind: ElasticQuotaTree
        sluice.dev/source-path: root/a
        sluice.dev/shown: policy=Round
        %s
    spec: {queuePolicy: %s, priority: 5}
    """
        .formatted(rest, policy);
  }

  @Test
  void aQueueIsMadeForEachQuotaAndGoesWithIt() {
    Cluster cluster = new Cluster();
    cluster.queueNamespace = Optional.of("kube-queue");
    QuotaPlan plan = cluster.carryOut(TREE);

    assertThat(ids(plan))
        .filteredOn(id -> id.kind() == ObjectKind.QUEUE)
        .extracting(ObjectId::name)
        .containsExactly("root-self", "root-a", "root-b");
    assertThat(find(plan, SHOWN).spec()).isEqualTo(QuotaTrees.yaml("{queuePolicy: Round}"));
    assertThat(find(plan, SHOWN).annotations())
        .containsEntry("kube-queue/quota-fullname", "root/a")
        .containsEntry("sluice.dev/source-path", "root/a");
    assertThat(cluster.plan(tree("max: {cpu: 9}")).removed()).contains(SHOWN);
  }

  @Test
  void aQueueOfSomebodyElseKeepsItsName() {
    Cluster cluster = new Cluster();
    cluster.queueNamespace = Optional.of("kube-queue");
    cluster.stranger(SHOWN);

    QuotaPlan plan = cluster.plan(TREE);
    assertThat(ids(plan)).doesNotContain(SHOWN);
    assertThat(plan.taken())
        .singleElement()
        .satisfies(it -> assertThat(it.note()).startsWith("Queue kube-queue/root-a: the name"));
  }

  @Test
  void whatPeopleChangeIsKeptAndActs() {
    given(shown("Block", "koord-queue/available-quota: \"b, root/c,\""));
    QueueOverride override = ofA();

    assertThat(override)
        .isEqualTo(
            new QueueOverride(
                Optional.of(Policy.BLOCK),
                "Block",
                Optional.of(5),
                false,
                false,
                List.of("b", "root/c"),
                new TreeMap<>()));
    Cluster cluster = new Cluster();
    cluster.queueNamespace = Optional.of("kube-queue");
    cluster.overrides = quota -> quota.name().equals("a") ? override : QueueOverride.NONE;
    QuotaPlan plan = cluster.plan(TREE);
    assertThat(find(plan, SHOWN).spec())
        .isEqualTo(QuotaTrees.yaml("{queuePolicy: Block, priority: 5}"));
    assertThat(find(plan, queue("root-a")).spec().path("queueingStrategy").asText())
        .isEqualTo("StrictFIFO");
    assertThat(
            find(plan, queue("root-a")).spec().at("/namespaceSelector/matchExpressions/0/values"))
        .isEqualTo(QuotaTrees.yaml("[a, b]"));
    assertThat(find(plan, queue("root-a")).annotations())
        .containsEntry("sluice.dev/queue-priority", "5")
        .containsEntry("sluice.dev/available-quota", "b,root/c");
    assertThat(
            find(plan, queue("root-b")).spec().at("/namespaceSelector/matchExpressions/0/values"))
        .isEqualTo(QuotaTrees.yaml("[b]"));
  }

  @Test
  void whatIsShownIsNoWish() {
    given(shown("Round", "kube-queue/enable-queueunit-preemption: \"true\""));

    assertThat(ofA())
        .isEqualTo(
            new QueueOverride(
                Optional.empty(), "", Optional.of(5), false, true, List.of(), new TreeMap<>()));
    assertThat(notes).isEmpty();
  }

  @Test
  void policiesThatThereArentAreToldOf() {
    given(shown("Fastest", ""));
    assertThat(ofA().policy()).isEmpty();
    assertThat(notes)
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.reason()).isEqualTo("InvalidQuota");
              assertThat(it.note())
                  .isEqualTo("\"Fastest\" is no policy of a queue; it is served as configured");
            });

    queues.clear();
    given(shown("Intelligent", ""));
    assertThat(ofA().policy()).contains(Policy.STRICT_PRIORITY);
    assertThat(notes)
        .singleElement()
        .satisfies(it -> assertThat(it.reason()).isEqualTo("UnsupportedAttribute"));
  }

  @Test
  void aQueueThatKubeQueueMadeForTheQuotaSpeaksUntilOursIsThere() {
    given(
        "{metadata: {name: root-a, namespace: kube-queue, labels: {create-by-kubequeue: \"true\"}},"
            + " spec: {queuePolicy: Block}}");
    assertThat(ofA().policy()).contains(Policy.BLOCK);

    given(shown("Round", ""));
    assertThat(ofA().policy()).isEmpty();

    queues.clear();
    given("{metadata: {name: root-a, namespace: kube-queue}, spec: {queuePolicy: Block}}");
    assertThat(ofA()).isEqualTo(QueueOverride.NONE);
  }

  @Test
  void anElasticQuotaSaysItselfHowItIsServed() {
    QuotaSource source = new QuotaSource(ElasticQuotaReader.KOORDINATOR, "a", "a", "uid");
    QuotaDeclaration quota =
        new QuotaDeclaration(
            source, "a", "root/a", List.of(), Map.of(), Map.of(), Map.of(), false, List.of());
    given(
        shown("Block", "kube-queue/wait-for-pods-running: \"true\"")
            .replace("ElasticQuotaTree", ElasticQuotaReader.KOORDINATOR));

    String object =
        "{metadata: {name: a, labels: {koord-queue/queue-policy: Priority}, annotations:"
            + " {koord-queue/enable-queueunit-preemption: \"true\"}}}";
    assertThat(of(quota, Map.of(source, object)))
        .isEqualTo(
            new QueueOverride(
                Optional.of(Policy.STRICT_PRIORITY),
                "Priority",
                Optional.of(5),
                false,
                true,
                List.of(),
                new TreeMap<>()));
    queues.clear();
    assertThat(of(quota, Map.of(source, "{metadata: {name: a}}")).priority()).contains(1000);
  }

  @Test
  void aResourceQuotaIsServedAsTheQueueOfItsNamespaceSays() {
    QuotaDeclaration quota =
        new QuotaDeclaration(
            new QuotaSource(ResourceQuotaReader.KIND, "a", "all", "uid"),
            "a-all",
            "a/all",
            List.of("a"),
            Map.of(),
            Map.of(),
            Map.of(),
            false,
            List.of());
    given("{metadata: {name: z, namespace: a}, spec: {queuePolicy: Block, priority: 3}}");
    given("{metadata: {name: y, namespace: b}, spec: {queuePolicy: Round}}");

    assertThat(of(quota, Map.of()))
        .isEqualTo(
            new QueueOverride(
                Optional.of(Policy.BLOCK),
                "Block",
                Optional.of(3),
                false,
                false,
                List.of(),
                new TreeMap<>()));
  }

  @Test
  void checksOfAQueueAreThoseOfTheClusterQueue() {
    given(
        shown("Round", "")
            .replace(
                "priority: 5",
                "admissionChecks: [{name: quick}, {name: \"\"}, {name: paid, labelSelector:"
                    + " {matchLabels: {tier: gold}}}]"));
    QueueOverride override = ofA();
    assertThat(override.checks().keySet()).containsExactly("paid", "quick");
    assertThat(notes)
        .singleElement()
        .satisfies(it -> assertThat(it.note()).isEqualTo("\"\" can't be an admission check"));

    Cluster cluster = new Cluster();
    cluster.overrides = quota -> quota.name().equals("a") ? override : QueueOverride.NONE;
    PlannedObject planned = find(cluster.plan(TREE), queue("root-a"));
    assertThat(planned.spec().path("admissionChecksStrategy"))
        .isEqualTo(QuotaTrees.yaml("{admissionChecks: [{name: paid}, {name: quick}]}"));
    assertThat(planned.annotations())
        .containsEntry(
            "sluice.dev/admission-check-selectors",
            "{\"paid\":{\"matchLabels\":{\"tier\":\"gold\"}},\"quick\":{}}");

    // a check that somebody else added is no difference, and one that isn't wished for any more is
    ExistingObject more =
        new ExistingObject(
            planned.id(),
            "u",
            planned.annotations(),
            QuotaTrees.yaml(
                planned
                    .spec()
                    .toString()
                    .replace("{\"name\":\"paid\"}", "{\"name\":\"own\"},{\"name\":\"paid\"}")),
            false,
            false);
    assertThat(PlanDifference.differs(planned, more)).isFalse();
    assertThat(PlanDifference.differs(find(new Cluster().plan(TREE), queue("root-a")), more))
        .isTrue();
  }

  @Test
  void annotationsWithoutEffectAreToldOf() {
    given(
        shown("Round", "koord-queue/max-depth: \"-1\"")
            .replace("annotations:", "annotations:\n    koord-queue/priority-threshold: \"7\""));
    ofA();
    assertThat(notes)
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.reason()).isEqualTo("UnsupportedAttribute");
              assertThat(it.note()).isEqualTo("priority-threshold has no effect");
            });
  }

  @Test
  void queuesMoveWithTheConfiguredNamespaceAndKeepWhatPeopleWrote() {
    Cluster cluster = new Cluster();
    cluster.queueNamespace = Optional.of("kube-queue");
    PlannedObject old = find(cluster.carryOut(TREE), SHOWN);
    Map<String, String> edited = new HashMap<>(old.annotations());
    edited.put("koord-queue/wait-for-pods-running", "true");
    edited.put("other", "x");
    cluster.put(
        new PlannedObject(
            SHOWN,
            edited,
            (ObjectNode) QuotaTrees.yaml("{queuePolicy: Round, admissionChecks: [{name: paid}]}")),
        false);

    cluster.queueNamespace = Optional.of("queues");
    QuotaPlan plan = cluster.carryOut(TREE);

    ObjectId moved = new ObjectId(ObjectKind.QUEUE, "queues", "root-a");
    assertThat(find(plan, moved).annotations())
        .containsEntry("koord-queue/wait-for-pods-running", "true")
        .containsEntry("kube-queue/quota-fullname", "root/a")
        .doesNotContainKey("other");
    assertThat(find(plan, moved).spec())
        .isEqualTo(QuotaTrees.yaml("{queuePolicy: Round, admissionChecks: [{name: paid}]}"));
    assertThat(plan.removed())
        .containsExactlyInAnyOrder(
            SHOWN,
            new ObjectId(ObjectKind.QUEUE, "kube-queue", "root-b"),
            new ObjectId(ObjectKind.QUEUE, "kube-queue", "root-self"));
    // from then on it is people's again
    assertThat(find(cluster.plan(TREE), moved).annotations())
        .doesNotContainKey("koord-queue/wait-for-pods-running");

    cluster.queueNamespace = Optional.empty();
    assertThat(cluster.plan(TREE).removed()).contains(moved);
  }

  @Test
  void ofTwoQueuesOfOneQuotaTheOneInTheConfiguredNamespaceSpeaks() {
    for (int order = 0; order < 2; order++) {
      queues.clear();
      String elsewhere = shown("Block", "").replace("namespace: kube-queue", "namespace: queues");
      given(order == 0 ? elsewhere : shown("Round", ""));
      given(order == 0 ? shown("Round", "") : elsewhere);
      assertThat(ofA().policy()).isEmpty();
    }
  }

  /** Strangers may write anything. */
  @Test
  void nothingThatIsWrittenThrows() {
    given("{metadata: {name: root-a, namespace: kube-queue, labels: {}}, spec: 7}");
    given("{metadata: {namespace: kube-queue, labels: {create-by-kubequeue: \"true\"}}}");
    given(
        shown("[1, 2]", "x: y")
            .replace("priority: 5", "priority: high, admissionChecks: [7, {name: []}]"));

    assertThat(ofA().policy()).isEmpty();
    assertThat(ofA().priority()).isEmpty();
  }
}
