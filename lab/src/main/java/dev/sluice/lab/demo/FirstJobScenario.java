package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The scenario of the first Job: two flavors, one ClusterQueue, one team. Applies the manifests and
 * judges the six expectations by the recorded watch events. Not thread-safe; runs once.
 */
public final class FirstJobScenario {

  /** The namespace of the scenario's Jobs. */
  public static final String NAMESPACE = "team-ml";

  static final String CLUSTER_QUEUE = "research-pool";
  static final List<String> FLAVORS = List.of("ondemand", "spot");

  private static final Duration STEP_TIMEOUT = Duration.ofSeconds(90);

  private final KubernetesClient client;
  private final ScenarioManifests manifests;
  private final DemoEnvironment demoEnvironment;
  private final WatchRecorder recorder;
  private final ProgressListener progressListener;
  private final ScenarioCluster cluster;
  private final ExpectationResults<FirstJobExpectation> expectationResults;

  /**
   * Creates a scenario to run once.
   *
   * @param recorder must have been started
   */
  public FirstJobScenario(
      KubernetesClient client,
      ScenarioManifests manifests,
      DemoEnvironment demoEnvironment,
      WatchRecorder recorder,
      ProgressListener progressListener) {
    this.client = client;
    this.manifests = manifests;
    this.demoEnvironment = demoEnvironment;
    this.recorder = recorder;
    this.progressListener = progressListener;
    this.expectationResults = new ExpectationResults<>(FirstJobExpectation.class, progressListener);
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  public List<ExpectationResult> tell() {
    return expectationResults.of(this::play);
  }

  private void play() {
    progressListener.say("two flavors, one pool, one queue (" + manifests + ")");
    cluster.create(manifests.setup());
    cluster.await("ClusterQueue " + CLUSTER_QUEUE + " to be active", this::activeQueue);
    judgeFlavors();

    progressListener.say("a Job of 3 CPUs that tolerates spot nodes; ondemand is free");
    ScenarioJob first = cluster.submit(manifests.job());
    ScenarioJob.Start firstStart = first.awaitStart();
    expectationResults.judge(
        FirstJobExpectation.STARTS_ON_FREE_QUOTA,
        firstStart.fault("ondemand"),
        "%s started on ondemand".formatted(first.name()));

    progressListener.say(
        "a Job of 3001 CPUs, and behind it one that is submitted with suspend: false");
    ScenarioJob tooLarge = cluster.submit(manifests.largerThanThePool());
    tooLarge.awaitReason();
    ScenarioJob eager = cluster.submit(manifests.submittedAsRunning());
    eager.awaitStart();
    end(first);
    end(eager);

    progressListener.say("a filler that takes all 1000 CPUs of ondemand");
    holdPods();
    ScenarioJob filler = cluster.submit(manifests.filler());
    filler.awaitAdmission();
    progressListener.say("the same Job again, and one that tolerates nothing");
    ScenarioJob onSpot = cluster.submit(manifests.job());
    ScenarioJob waiting = cluster.submit(manifests.jobWithoutToleration());
    judgeFallThrough(onSpot, waiting);

    progressListener.say("the filler ends");
    endFiller(filler);
    ScenarioJob.Start late = waiting.awaitStart();
    judgeLateStart(filler, waiting, late);
    judgeTooLarge(tooLarge, eager);
    end(waiting);
    judgeHistory(List.of(first, eager, filler, onSpot, waiting, tooLarge), eager);
  }

  private Optional<JsonNode> activeQueue() {
    return recorder.current(AuditedKind.CLUSTER_QUEUE).stream()
        .filter(queue -> queue.at("/metadata/name").asText().equals(CLUSTER_QUEUE))
        .filter(
            queue ->
                queue.at("/status/conditions").valueStream().anyMatch(FirstJobScenario::isActive))
        .findFirst();
  }

  private static boolean isActive(JsonNode condition) {
    return condition.path("type").asText().equals("Active")
        && condition.path("status").asText().equals("True");
  }

  /** In the manifests of the oldest version, labels and taints are in other fields. */
  private void judgeFlavors() {
    ResourceDefinitionContext flavors = ScenarioObjects.flavors();
    List<String> faults = new ArrayList<>();
    for (String name : FLAVORS) {
      GenericKubernetesResource flavor =
          client.genericKubernetesResources(flavors).withName(name).get();
      Object labels = flavor.get("spec", "nodeLabels");
      if (!Map.of("instance-type", name).equals(labels)) {
        faults.add(name + " has node labels " + labels);
      }
    }
    Object taints =
        client.genericKubernetesResources(flavors).withName("spot").get().get("spec", "nodeTaints");
    if (!List.of(Map.of("key", "spot", "value", "true", "effect", "NoSchedule")).equals(taints)) {
      faults.add("spot has node taints " + taints);
    }
    if (!faults.isEmpty()) {
      expectationResults.judge(
          FirstJobExpectation.OLD_FLAVORS, Optional.of(String.join(", ", faults)), "");
    }
  }

  private void judgeFallThrough(ScenarioJob onSpot, ScenarioJob waiting) {
    Optional<String> fault = onSpot.awaitStart().fault("spot");
    JsonNode reason = waiting.awaitReason();
    String message = reason.path("message").asText();
    if (!FLAVORS.stream().allMatch(message::contains)) {
      fault = Optional.of("the reason doesn't name both flavors: " + message);
    }
    if (!waiting.waits()) {
      fault = Optional.of(waiting.name() + " does not wait");
    }
    expectationResults.judge(
        FirstJobExpectation.FALLS_THROUGH,
        fault,
        "%s started on spot; %s waits: %s".formatted(onSpot.name(), waiting.name(), message));
    if (!expectationResults.has(FirstJobExpectation.OLD_FLAVORS)) {
      expectationResults.judge(
          FirstJobExpectation.OLD_FLAVORS,
          fault.map(f -> "the flavors don't act as they say: " + f),
          "node labels and taints are in effect");
    }
  }

  private void judgeLateStart(ScenarioJob filler, ScenarioJob waiting, ScenarioJob.Start late) {
    Optional<String> fault = late.fault("ondemand");
    Optional<Long> freed = filler.firstEnd();
    if (freed.isEmpty() || freed.get() > late.revision()) {
      fault = Optional.of(waiting.name() + " started before the filler gave quota back");
    }
    expectationResults.judge(
        FirstJobExpectation.GOES_ON_BY_ITSELF,
        fault,
        waiting.name() + " started on ondemand by itself");
  }

  private void judgeTooLarge(ScenarioJob tooLarge, ScenarioJob eager) {
    JsonNode reason = tooLarge.awaitReason();
    Optional<String> fault = Optional.empty();
    if (!reason.path("reason").asText().equals("ExceedsMaxQuota")) {
      fault = Optional.of("the reason is " + reason);
    }
    if (!tooLarge.waits()) {
      fault = Optional.of(tooLarge.name() + " does not wait");
    }
    expectationResults.judge(
        FirstJobExpectation.NEVER_FITS,
        fault,
        "%s started behind it; %s".formatted(eager.name(), reason.path("message").asText()));
  }

  private void judgeHistory(List<ScenarioJob> jobs, ScenarioJob eager) {
    if (!recorder.catchUp(STEP_TIMEOUT)) {
      throw new ScenarioException("the watches did not catch up");
    }
    AuditReport report = Auditor.audit(recorder.history());
    Optional<String> fault =
        recorder.gap().or(() -> report.violations().stream().findFirst().map(Object::toString));
    if (!eager.wasCreatedSuspended()) {
      fault = Optional.of(eager.name() + " was unsuspended when it was made");
    }
    if (report.jobs().size() != jobs.size()) {
      fault = Optional.of("the history has %d Jobs".formatted(report.jobs().size()));
    }
    expectationResults.judge(FirstJobExpectation.NEVER_EARLY, fault, report.summary());
  }

  private void holdPods() {
    if (demoEnvironment instanceof DemoEnvironment.Own own) {
      own.holdPods();
    }
  }

  private void endFiller(ScenarioJob filler) {
    switch (demoEnvironment) {
      case DemoEnvironment.Own own -> {
        own.letPodsRun();
        filler.awaitCompletion();
      }
      case DemoEnvironment.Foreign() -> cluster.delete(filler);
    }
  }

  /** Where pods run, a Job ends by itself; otherwise, or to save time, it is deleted. */
  private void end(ScenarioJob job) {
    if (demoEnvironment instanceof DemoEnvironment.Own own && own.patient()) {
      job.awaitCompletion();
    } else {
      cluster.delete(job);
    }
  }

  /** The expectations of the scenario of the first Job, in the order in which they are judged. */
  public enum FirstJobExpectation implements Expectation {
    /** The Job starts on the flavor with quota, by one update that changes nothing else. */
    STARTS_ON_FREE_QUOTA(
        "with free ondemand quota the Job starts there; suspend: false and the node selector arrive"
            + " in one update"),
    /** The next flavor is tried; a Job that cannot use it is told the reason. */
    FALLS_THROUGH(
        "with ondemand full, the Job that tolerates spot starts there; the other waits, and its"
            + " Workload names both flavors"),
    /** Manifests of the oldest API version keep their meaning. */
    OLD_FLAVORS(
        "flavors act by their node labels and taints, in whatever version they are written"),
    /** Released quota is used. */
    GOES_ON_BY_ITSELF("when the filler ends, the waiting Job starts by itself on ondemand"),
    /** A Job that can never run gets a message and does not block other Jobs. */
    NEVER_FITS("a Job larger than the pool waits, is told that it never fits, and holds up nobody"),
    /** Nothing runs before its admission. */
    NEVER_EARLY("no Job is unsuspended and no pod made before its Workload holds quota");

    private final String text;

    FirstJobExpectation(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }

  /** Environment of a demo: whether pods run there, and who controls when they run. */
  public sealed interface DemoEnvironment {

    /** A cluster started for the demo, whose nodes simulate pods. */
    record Own(KubernetesClient client, boolean patient) implements DemoEnvironment {

      private static final String LABEL = "instance-type";

      /** Holds new pods on ondemand nodes, so that the filler stays as long as needed. */
      void holdPods() {
        cordon(true);
      }

      /** Releases the held pods. */
      void letPodsRun() {
        cordon(false);
      }

      private void cordon(boolean unschedulable) {
        for (Node node : client.nodes().withLabel(LABEL, "ondemand").list().getItems()) {
          client
              .nodes()
              .withName(node.getMetadata().getName())
              .edit(
                  current -> {
                    current.getSpec().setUnschedulable(unschedulable);
                    return current;
                  });
        }
      }
    }

    /** An existing cluster that cannot run the scenario's images: Jobs are ended by deletion. */
    record Foreign() implements DemoEnvironment {}
  }

  /** The scenario's cluster-scoped objects: its namespace, queue and flavors. */
  public static final class ScenarioObjects {

    private final KubernetesClient client;

    /** Creates an access for this cluster. */
    public ScenarioObjects(KubernetesClient client) {
      this.client = client;
    }

    /** The objects that exist, such as {@code namespace team-ml}. */
    public List<String> existing() {
      return all().entrySet().stream()
          .filter(each -> exists(each.getValue()))
          .map(Map.Entry::getKey)
          .toList();
    }

    /** Requests the deletion of all objects without waiting. */
    public void delete() {
      all().values().forEach(Resource::delete);
    }

    private Map<String, Resource<?>> all() {
      Map<String, Resource<?>> all = new LinkedHashMap<>();
      all.put(
          "namespace " + FirstJobScenario.NAMESPACE,
          client.namespaces().withName(FirstJobScenario.NAMESPACE));
      all.put(
          "ClusterQueue " + FirstJobScenario.CLUSTER_QUEUE,
          client
              .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
              .withName(FirstJobScenario.CLUSTER_QUEUE));
      for (String flavor : FirstJobScenario.FLAVORS) {
        all.put(
            "ResourceFlavor " + flavor,
            client.genericKubernetesResources(flavors()).withName(flavor));
      }
      return all;
    }

    static ResourceDefinitionContext flavors() {
      return new ResourceDefinitionContext.Builder()
          .withGroup("kueue.x-k8s.io")
          .withVersion("v1beta2")
          .withKind("ResourceFlavor")
          .withPlural("resourceflavors")
          .withNamespaced(false)
          .build();
    }

    /** If the API is not installed, none of its objects exists. */
    private static boolean exists(Resource<?> resource) {
      try {
        return resource.get() != null;
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
          return false;
        }
        throw e;
      }
    }
  }
}
