package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.kubeflow.TrainingJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.kube.json.JsonMergePatch;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which jobs without a queue name are given one, and how. */
class JobIntakePolicyTest {

  private static final String TF_JOB =
      """
      apiVersion: kubeflow.org/v1
      kind: TFJob
      metadata:
        name: tf
        namespace: team
        uid: u
        generation: 1
        annotations: {scheduling.x-k8s.io/suspend: "true"}
      spec:
        tfReplicaSpecs:
          Worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}
      """;

  /** A JobSet without jobs counts as ready. */
  private static final String EMPTY =
      "{metadata: {name: a, namespace: team}, spec: {replicatedJobs: [{name: a}]}}";

  private final ScriptedApi api = new ScriptedApi();

  /** Answers for every job of namespace team. */
  private record FixedIntake(boolean takesUnsuspended, QueueAssignment answer)
      implements JobIntake {

    @Override
    public boolean isOn() {
      return true;
    }

    @Override
    public QueueAssignment assign(
        JobRef job,
        Map<String, String> labels,
        Map<String, String> annotations,
        Supplier<List<ObjectNode>> templates) {
      return job.namespace().equals("team") ? answer : new QueueAssignment.Unassigned();
    }

    @Override
    public Runnable observe(Consumer<Predicate<String>> observer) {
      return () -> {};
    }
  }

  private static JobIntake intake(boolean all) {
    return new FixedIntake(all, new QueueAssignment.ToLocalQueue("leaf"));
  }

  private List<String> reconciled(JobIntegration kind, CachedJob job, JobIntake intake)
      throws InterruptedException {
    JobOptions options = JobOptions.defaults("kueue-system");
    IntegrationRegistry registry =
        new IntegrationRegistry(
            List.of(Integration.of(new BatchJob()), Integration.of(TrainingJob.tensorFlow())),
            List.of("batch/job", "kubeflow.org/tfjob"),
            gate -> true);
    new JobReconciler(
            kind,
            options,
            new OwnerChainResolver(options, api, registry),
            (any, workload) -> false,
            intake,
            api.dependencies(),
            1)
        .reconcile(job);
    return List.copyOf(api.calls);
  }

  private String queueOf(CachedJob job) {
    return api.stored(job.ref()).at("/metadata/labels/kueue.x-k8s.io~1queue-name").asText();
  }

  private boolean isTaken(GivenJob job, JobIntake intake) throws InterruptedException {
    api.store(job);
    reconciled(new BatchJob(), job.view(), intake);
    return queueOf(job.view()).equals("leaf");
  }

  @Test
  void aJobThatWasCreatedSuspendedAndNeverRanIsTaken() throws InterruptedException {
    assertThat(isTaken(job().queue(""), intake(false))).isTrue();
    assertThat(api.events).containsExactly("Normal QueueAssigned");
    assertThat(api.stored(job().view().ref()).at("/spec/suspend").asBoolean()).isTrue();
  }

  @Test
  void whatRanOrRunsOrEndedIsLeftAlone() throws InterruptedException {
    GivenJob changed = job().queue("");
    changed.object().withObject("/metadata").put("generation", 3);
    for (GivenJob given : List.of(changed, job().queue("").running(3))) {
      for (boolean all : new boolean[] {false, true}) {
        assertThat(isTaken(given, intake(all))).isFalse();
      }
    }
    assertThat(api.calls).isEmpty();
  }

  @Test
  void aJobThatIsNotSuspendedIsTakenAndSuspendedIfAllAre() throws InterruptedException {
    GivenJob given = job().queue("");
    given.object().withObject("/spec").put("suspend", false);
    assertThat(isTaken(given, intake(false))).isFalse();
    assertThat(isTaken(given, intake(true))).isTrue();
    assertThat(api.stored(given.view().ref()).at("/spec/suspend").asBoolean()).isTrue();
  }

  @Test
  void aJobWithAQueueAPartOfAnotherJobAndAStrangerAreLeftAlone() throws InterruptedException {
    assertThat(isTaken(job(), intake(true))).isFalse();
    api.calls.clear();
    GivenJob part = job().queue("");
    part.object()
        .withObject("/metadata")
        .withArray("ownerReferences")
        .addObject()
        .put("apiVersion", "kubeflow.org/v1")
        .put("kind", "TFJob")
        .put("name", "tf")
        .put("uid", "u")
        .put("controller", true);
    assertThat(isTaken(part, intake(true))).isFalse();
    assertThat(isTaken(job().queue(""), new FixedIntake(true, new QueueAssignment.Unassigned())))
        .isFalse();
    assertThat(isTaken(job().queue(""), JobIntake.NONE)).isFalse();
    assertThat(api.calls).isEmpty();
  }

  @Test
  void peopleAreToldOfAQuotaThatIsNotThere() throws InterruptedException {
    assertThat(
            isTaken(
                job().queue(""), new FixedIntake(false, new QueueAssignment.NotAvailable("no"))))
        .isFalse();
    assertThat(api.events).containsExactly("Warning QuotaNotAvailable");
  }

  @Test
  void aJobIsLookedAtAgainUntilItsLocalQueueIsMade() {
    CachedJob waits = job().queue("").view();
    assertThat(decided(waits, "")).containsExactly(new Requeue(Duration.ofSeconds(10)));
    assertThat(decided(waits, "no"))
        .containsExactly(new Warn("QuotaNotAvailable", "no"), new Requeue(Duration.ofSeconds(10)));
  }

  private List<JobAction> decided(CachedJob job, String problem) {
    JobIntake intake = new FixedIntake(false, new QueueAssignment.Pending(problem));
    return new JobIntakePolicy(new BatchJob(), JobOptions.defaults("kueue-system"), intake)
        .decide(context(job), false);
  }

  @Test
  void theAnnotationHoldsAJobUntilItsControllerHasBegun() throws InterruptedException {
    TrainingJob kind = TrainingJob.tensorFlow();
    CachedJob held = CachedJobParser.of(kind, GivenJob.fromYaml(TF_JOB).object());
    JobIntakePolicy policy =
        new JobIntakePolicy(kind, JobOptions.defaults("kueue-system"), intake(false));
    assertThat(policy.decide(context(held), false))
        .singleElement()
        .satisfies(
            action -> {
              JobPatch patch = ((JobAction.AssignQueue) action).patch();
              assertThat(patch.body().at("/spec/runPolicy/suspend").asBoolean()).isTrue();
            });
    for (String begun : List.of("Running", "Restarting")) {
      GivenJob job = GivenJob.fromYaml(TF_JOB);
      job.object()
          .putObject("status")
          .withArray("conditions")
          .addObject()
          .put("type", begun)
          .put("status", "True");
      assertThat(policy.decide(context(CachedJobParser.of(kind, job.object())), false)).isEmpty();
    }
    CachedJob other = CachedJobParser.of(TrainingJob.jax(), GivenJob.fromYaml(TF_JOB).object());
    assertThat(other.state().handling().held()).isFalse();
  }

  /** The integrations of all kinds that a field or an annotation suspends. */
  static Stream<JobIntegration> suspendableKinds() {
    return Stream.concat(
            BuiltInIntegrations.descriptions().stream(),
            BuiltInIntegrations.ofKubeQueue(InstantSource.system()).stream()
                .map(Integration::description))
        .filter(JobIntegration.class::isInstance)
        .map(JobIntegration.class::cast)
        .filter(kind -> !kind.suspendField().isEmpty());
  }

  private static CachedJob empty(JobIntegration kind, JsonNode suspension) {
    ObjectNode object = GivenJob.fromYaml(EMPTY).object();
    if (!suspension.isNull()) {
      ObjectNode parent = object;
      List<String> field = kind.suspendField();
      for (String name : field.subList(0, field.size() - 1)) {
        parent = parent.withObjectProperty(name);
      }
      parent.set(field.getLast(), suspension);
    }
    return CachedJobParser.of(kind, object);
  }

  /** Workflows wait at a node of their status in place of a field: their own test shows it. */
  @ParameterizedTest
  @MethodSource("suspendableKinds")
  void jobsOfEveryKindAreTakenAndSuspended(JobIntegration kind) {
    JobOptions options = JobOptions.defaults("kueue-system");
    boolean byField = !kind.kind().kind().equals("Workflow");
    JobIntakePolicy some = new JobIntakePolicy(kind, options, intake(false));
    assertThat(some.decide(context(empty(kind, kind.suspension(true))), false))
        .hasSize(byField ? 1 : 0);
    CachedJob free = empty(kind, NullNode.getInstance());
    assertThat(some.decide(context(free), false)).isEmpty();

    JobAction taken =
        new JobIntakePolicy(kind, options, intake(true)).decide(context(free), false).getFirst();
    ObjectNode after =
        JsonMergePatch.applied(free.object(), ((JobAction.AssignQueue) taken).patch().body());
    assertThat(CachedJobParser.of(kind, after).queueName()).isEqualTo("leaf");
    assertThat(
            after.at("/" + String.join("/", kind.suspendField()).replace("k8s.io/s", "k8s.io~1s")))
        .isEqualTo(kind.suspension(true));
  }

  /** Its namespace moved to another quota: the LocalQueue that it was given is on hold. */
  @Test
  void aJobThatWasGivenItsQueueFollowsItsQuotaWhileItWaits() throws InterruptedException {
    GivenJob given = job().queue("old").annotation("sluice.dev/assigned-queue", "old");
    CachedWorkload waiting = GivenWorkload.workloadOf(given).get();
    assertThat(follows(given, waiting)).isTrue();
    assertThat(
            api.stored(given.view().ref())
                .at("/metadata/annotations/sluice.dev~1assigned-queue")
                .asText())
        .isEqualTo("leaf");
    api.calls.clear();

    CachedWorkload reserved = GivenWorkload.workloadOf(given).reserved("spot").get();
    assertThat(follows(given, reserved)).as("with quota").isFalse();
    assertThat(follows(job().queue("old"), waiting)).as("named by its owner").isFalse();
    assertThat(follows(given.queue("own"), waiting)).as("named by its owner later").isFalse();
  }

  private boolean follows(GivenJob job, CachedWorkload workload) throws InterruptedException {
    api.cached.clear();
    api.cached.add(workload);
    return isTaken(job, intake(false));
  }

  private ReconcileContext context(CachedJob job) {
    return new ReconcileContext(
        job,
        new ManagementStatus.Unmanaged(),
        List.of(),
        Optional.empty(),
        api.dependencies().flavors(),
        api.dependencies().priorities(),
        api.dependencies().clock().instant());
  }
}
