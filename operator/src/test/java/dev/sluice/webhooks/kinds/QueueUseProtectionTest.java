package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest.Operation;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.ClusterLookup.QueueUse;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whoever may not use a queue or a class doesn't get at it in any way. */
class QueueUseProtectionTest {

  private static final AllowedSubjects OWNERS =
      new AllowedSubjects(true, Set.of("ann"), Set.of("gold-users"));
  private static final String CONTROLLER =
      "system:serviceaccount:kube-system:replicaset-controller";
  private static final String NAMES =
      "; its annotations sluice.dev/allowed-users and sluice.dev/allowed-groups name who may";

  private final Map<String, AdmissionFunction> functions =
      Webhooks.functions(
          new WebhookSettings(
              false,
              labels -> true,
              BuiltInIntegrations.descriptions().stream()
                  .map(each -> each.kind().framework())
                  .collect(Collectors.toSet()),
              Set.of(),
              Set.of()),
          new Cluster());

  /** The queue and the class "gold" are restricted; the Workload "theirs" uses both. */
  private static final class Cluster implements ClusterLookup {

    @Override
    public AllowedSubjects allowedInQueue(String namespace, String queue) {
      return namespace.equals("team") && queue.equals("gold") ? OWNERS : AllowedSubjects.EVERYBODY;
    }

    @Override
    public AllowedSubjects allowedInPriorityClass(String name) {
      return name.equals("gold") ? OWNERS : AllowedSubjects.EVERYBODY;
    }

    @Override
    public Set<String> restrictedClassesUpTo(long priority, String used) {
      return priority >= 100 && !used.equals("gold") ? Set.of("gold") : Set.of();
    }

    @Override
    public boolean hasRestrictedQueue(String namespace) {
      return namespace.equals("team");
    }

    @Override
    public Optional<QueueUse> useOfWorkload(String namespace, String name) {
      return name.equals("theirs") ? Optional.of(new QueueUse("gold", "gold")) : Optional.empty();
    }

    @Override
    public boolean hasUse(String namespace, Owner owner, QueueUse queueUse) {
      return owner.uid().equals("of-ann") && queueUse.equals(new QueueUse("gold", ""));
    }

    @Override
    public boolean isOperator(String user) {
      return user.equals("operator");
    }

    @Override
    public boolean hasDefaultLocalQueue(String namespace) {
      return false;
    }

    @Override
    public boolean hasDefaultPriorityClass() {
      return false;
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
      return Map.of();
    }

    @Override
    public boolean isManaged(String namespace, Owner owner) {
      return owner.kind().equals("Job");
    }
  }

  private static AdmissionRequest request(String user, JsonNode before, JsonNode now) {
    return new AdmissionRequest(
        "uid",
        before.isMissingNode() ? Operation.CREATE : Operation.UPDATE,
        "",
        "any",
        now.path("kind").asText(),
        "team",
        "x",
        new RequestingUser(user, Set.of("system:authenticated"), true),
        now,
        before,
        false);
  }

  private List<String> refusals(String path, AdmissionRequest request) {
    return refusals(Objects.requireNonNull(functions.get(path)), request);
  }

  private static List<String> refusals(AdmissionFunction function, AdmissionRequest request) {
    return Reviews.messages(function.review(request)).stream()
        .filter(message -> message.contains("may not use") || message.contains("exist yet"))
        .toList();
  }

  private List<String> created(String path, String user, JsonNode object) {
    return refusals(path, request(user, MissingNode.getInstance(), object));
  }

  private static JsonNode object(String kind, String metadata) {
    return yaml(
        "{kind: %s, metadata: {name: x, namespace: team%s}, spec: {}}".formatted(kind, metadata));
  }

  private static JsonNode labelled(String kind, String labels) {
    return object(kind, ", labels: {" + labels + "}");
  }

  private static final String QUEUE = "kueue.x-k8s.io/queue-name: gold";
  private static final String CLASS = "kueue.x-k8s.io/priority-class: gold";

  private static String ofQueue(String user) {
    return "metadata.labels[kueue.x-k8s.io/queue-name]: Forbidden: user \""
        + user
        + "\" may not use LocalQueue \"team/gold\""
        + NAMES;
  }

  private static String ofClass(String user) {
    return "metadata.labels[kueue.x-k8s.io/priority-class]: Forbidden: user \""
        + user
        + "\" may not use WorkloadPriorityClass \"gold\""
        + NAMES;
  }

  static Stream<WebhookKind> jobKinds() {
    return WebhookKind.all().stream().filter(kind -> !kind.isOwn());
  }

  /** Changes of 0.20, section 7: whoever changes a job passes the checks of whoever creates one. */
  @ParameterizedTest
  @MethodSource("jobKinds")
  void jobsOfAllKindsAreJudgedWhenCreatedAndWhenChanged(WebhookKind kind) {
    String path = kind.validatingPath();
    JsonNode plain = labelled(kind.kind(), "kueue.x-k8s.io/queue-name: open");
    JsonNode queued = labelled(kind.kind(), QUEUE);
    JsonNode both = labelled(kind.kind(), QUEUE + ", " + CLASS);

    assertThat(created(path, "bob", plain)).isEmpty();
    assertThat(created(path, "bob", queued)).containsExactly(ofQueue("bob"));
    assertThat(created(path, "bob", both)).containsExactly(ofQueue("bob"), ofClass("bob"));
    assertThat(created(path, "ann", both)).isEmpty();
    assertThat(refusals(path, request("bob", plain, queued))).containsExactly(ofQueue("bob"));
    assertThat(refusals(path, request("bob", queued, both))).containsExactly(ofClass("bob"));
    assertThat(refusals(path, request("ann", plain, both))).isEmpty();
    // who only touches what others put there isn't judged
    assertThat(refusals(path, request("bob", both, both))).isEmpty();
    assertThat(refusals(path, request("bob", both, plain))).isEmpty();
    // the same by the annotation of former times
    assertThat(created(path, "bob", object(kind.kind(), ", annotations: {" + QUEUE + "}")))
        .containsExactly(ofQueue("bob"));
  }

  @Test
  void membersOfAGroupMay() {
    JsonNode job = labelled("Job", QUEUE);
    AdmissionRequest member =
        new AdmissionRequest(
            "uid",
            Operation.CREATE,
            "",
            "batch",
            "Job",
            "team",
            "x",
            new RequestingUser("cat", Set.of("gold-users"), true),
            job,
            MissingNode.getInstance(),
            false);

    assertThat(refusals("/validate-batch-v1-job", member)).isEmpty();
  }

  @Test
  void noJobTakesTheWorkloadThatAnotherOneMade() {
    String path = "/validate-batch-v1-job";
    String prebuilt = "kueue.x-k8s.io/prebuilt-workload-name: ";
    JsonNode theirs = labelled("Job", prebuilt + "theirs");

    assertThat(created(path, "bob", theirs))
        .hasSize(2)
        .allSatisfy(
            message ->
                assertThat(message)
                    .startsWith("metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]"));
    assertThat(refusals(path, request("bob", labelled("Job", ""), theirs))).hasSize(2);
    assertThat(created(path, "ann", theirs)).isEmpty();
    // nor one that another one is about to make
    assertThat(created(path, "bob", labelled("Job", prebuilt + "later")))
        .singleElement()
        .asString()
        .contains("Workload \"team/later\" does not exist yet");
    assertThat(created(path, "operator", labelled("Job", prebuilt + "later"))).isEmpty();
  }

  @Test
  void noPodJoinsTheGroupOfOthers() {
    String path = "/validate--v1-pod";
    JsonNode joining =
        labelled("Pod", "kueue.x-k8s.io/pod-group-name: theirs, kueue.x-k8s.io/queue-name: open");

    assertThat(created(path, "bob", joining)).hasSize(2);
    assertThat(created(path, "ann", joining)).isEmpty();
    assertThat(created(path, "bob", labelled("Pod", "kueue.x-k8s.io/pod-group-name: mine")))
        .isEmpty();
  }

  @Test
  void aPodIsNoPartOfAJobBecauseItSaysSo() {
    String path = "/validate--v1-pod";
    JsonNode ofJob =
        object(
            "Pod",
            ", labels: {"
                + QUEUE
                + "}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: of-ann,"
                + " controller: true}]");

    assertThat(created(path, "bob", ofJob)).containsExactly(ofQueue("bob"));
    assertThat(created(path, CONTROLLER, ofJob)).isEmpty();
  }

  /** It may cease to be a part, and is a job of its own then, in the queue that it names. */
  @Test
  void aPartNamesNoOtherQueueThanItsOwner() {
    for (String kind : List.of("Pod", "Job")) {
      String path = kind.equals("Pod") ? "/validate--v1-pod" : "/validate-batch-v1-job";
      String owner =
          ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: %s,"
              + " controller: true}]";
      String labels = ", labels: {" + QUEUE + "}";
      JsonNode before = labelled(kind, "kueue.x-k8s.io/queue-name: open");
      JsonNode part = object(kind, labels + owner.formatted("of-bob"));
      JsonNode ofAnn = object(kind, labels + owner.formatted("of-ann"));

      assertThat(refusals(path, request("bob", before, part)))
          .as(kind)
          .containsExactly(ofQueue("bob"));
      assertThat(refusals(path, request("bob", before, ofAnn)))
          .as(kind)
          .containsExactly(ofQueue("bob"));
      assertThat(created(path, CONTROLLER, part)).as(kind).containsExactly(ofQueue(CONTROLLER));
      assertThat(created(path, CONTROLLER, object(kind, owner.formatted("of-bob")))).isEmpty();
    }
    // beside what the owner uses, a part may use what everybody may
    assertThat(
            created(
                "/validate--v1-pod",
                CONTROLLER,
                object(
                    "Pod",
                    ", labels: {"
                        + QUEUE
                        + ", kueue.x-k8s.io/priority-class: low}, ownerReferences: [{apiVersion:"
                        + " batch/v1, kind: Job, name: j, uid: of-ann, controller: true}]")))
        .isEmpty();
  }

  @Test
  void controllersPassOnWhatTheirOwnerMayUseAndNothingElse() {
    String path = "/validate--v1-pod";
    String owner =
        ", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: s, uid: %s, controller:"
            + " true}], annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}";
    JsonNode ofAnn = object("Pod", ", labels: {" + QUEUE + "}" + owner.formatted("of-ann"));
    JsonNode ofBob = object("Pod", ", labels: {" + QUEUE + "}" + owner.formatted("of-bob"));
    JsonNode higher =
        object("Pod", ", labels: {" + QUEUE + ", " + CLASS + "}" + owner.formatted("of-ann"));

    assertThat(created(path, CONTROLLER, ofAnn)).isEmpty();
    assertThat(created(path, CONTROLLER, ofBob)).containsExactly(ofQueue(CONTROLLER));
    assertThat(created(path, CONTROLLER, higher)).hasSize(2);
    assertThat(created(path, "bob", ofAnn)).containsExactly(ofQueue("bob"));
  }

  @Test
  void workloadsMadeByHandAreJudgedToo() {
    String path = "/validate-kueue-x-k8s-io-v1beta2-workload";
    JsonNode queued = workload("queueName: gold");
    String reference = "priorityClassRef: {group: kueue.x-k8s.io, kind: %s, name: gold}";
    JsonNode classed = workload(reference.formatted("WorkloadPriorityClass"));

    assertThat(created(path, "bob", queued))
        .singleElement()
        .asString()
        .startsWith("spec.queueName: Forbidden: user \"bob\" may not use LocalQueue");
    assertThat(created(path, "ann", queued)).isEmpty();
    assertThat(created(path, "operator", queued)).isEmpty();
    assertThat(created(path, "bob", classed)).hasSize(1);
    assertThat(created(path, "bob", workload(reference.formatted("PriorityClass")))).isEmpty();
    assertThat(refusals(path, request("bob", workload("queueName: open"), queued))).hasSize(1);
    assertThat(refusals(path, request("bob", queued, queued))).isEmpty();
    // the priority of a class without its name
    assertThat(created(path, "bob", workload("priority: 100")))
        .singleElement()
        .asString()
        .startsWith(
            "spec.priority: Forbidden: user \"bob\" may not use priority of WorkloadPriorityClass"
                + " \"gold\"");
    assertThat(refusals(path, request("bob", workload("priority: 1"), workload("priority: 100"))))
        .hasSize(1);
    assertThat(created(path, "bob", workload("priority: 99"))).isEmpty();
    assertThat(created(path, "ann", workload("priority: 100"))).isEmpty();
    assertThat(created(path, "operator", workload("priority: 100"))).isEmpty();
  }

  /**
   * Changes of 0.20, section 7: whoever changes a Workload passes the same checks for every
   * annotation.
   */
  @Test
  void aBoostGivesNoPriorityOfAClassThatItsWriterMayNotUse() {
    String path = "/validate-kueue-x-k8s-io-v1beta2-workload";
    AdmissionFunction boosting =
        Objects.requireNonNull(
            Webhooks.functions(Reviews.settings("PriorityBoost"), new Cluster()).get(path));
    JsonNode plain = boosted("60", "0");
    JsonNode high = boosted("60", "40");

    assertThat(refusals(boosting, request("bob", plain, high)))
        .singleElement()
        .asString()
        .startsWith(
            "metadata.annotations[kueue.x-k8s.io/priority-boost]: Forbidden: user \"bob\" may not"
                + " use priority of WorkloadPriorityClass \"gold\"");
    assertThat(refusals(boosting, request("bob", MissingNode.getInstance(), high))).hasSize(1);
    assertThat(refusals(boosting, request("bob", high, boosted("61", "40"))))
        .singleElement()
        .asString()
        .startsWith("spec.priority: Forbidden");
    assertThat(refusals(boosting, request("bob", plain, boosted("60", "39")))).isEmpty();
    assertThat(refusals(boosting, request("bob", high, boosted("70", "30")))).isEmpty();
    assertThat(refusals(boosting, request("ann", plain, high))).isEmpty();
    assertThat(refusals(boosting, request("operator", plain, high))).isEmpty();
    assertThat(refusals(path, request("bob", plain, high))).as("without the gate").isEmpty();
  }

  /** There boosts count without the gate. */
  @Test
  void boostsAreJudgedWhereQueuesAreMadeFromTheQuotasOfKubeQueue() throws Exception {
    String path = "/validate-kueue-x-k8s-io-v1beta2-workload";
    WebhookSettings settings = configured("kubeQueue: {enabled: true}");
    AdmissionFunction function =
        Objects.requireNonNull(Webhooks.functions(settings, new Cluster()).get(path));

    assertThat(refusals(function, request("bob", boosted("60", "0"), boosted("60", "40"))))
        .singleElement()
        .asString()
        .startsWith("metadata.annotations[kueue.x-k8s.io/priority-boost]: Forbidden");
    assertThat(
            Reviews.messages(
                function.review(request("bob", boosted("60", "0"), boosted("60", "much")))))
        .anySatisfy(message -> assertThat(message).contains("must be a whole number"));
    assertThat(configured("kubeQueue: {enabled: false}").isOn(FeatureGate.PRIORITY_BOOST))
        .isFalse();
  }

  private static WebhookSettings configured(String text) throws Exception {
    String head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
    return WebhookSettings.of(ConfigurationLoader.parse(head + text, "", () -> "kueue-system"));
  }

  private static JsonNode boosted(String priority, String boost) {
    return yaml(
        "{kind: Workload, metadata: {name: x, namespace: team, annotations:"
            + " {kueue.x-k8s.io/priority-boost: '%s'}}, spec: {podSets: [], priority: %s}}"
                .formatted(boost, priority));
  }

  private static JsonNode workload(String field) {
    return yaml(
        "{kind: Workload, metadata: {name: x, namespace: team}, spec: {podSets: [], %s}}"
            .formatted(field));
  }

  @Test
  void malformedObjectsAreAnswered() {
    for (String text : List.of("[]", "{}", "{metadata: []}", "{metadata: {labels: 3}, spec: 4}")) {
      for (Map.Entry<String, AdmissionFunction> each : functions.entrySet()) {
        if (each.getKey().startsWith("/validate")) {
          assertThat(each.getValue().review(request("bob", MissingNode.getInstance(), yaml(text))))
              .isNotNull();
        }
      }
    }
  }
}
