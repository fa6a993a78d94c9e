package dev.sluice.kinds;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.lab.player.KindManifest;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A kind of job as the suites see it. Everything follows from its manifest and its description but
 * for what the sets below say.
 */
record KindRow(KindManifest manifest, JobKindDescription description) {

  /** Kinds whose status tells of pods that need no quota any more, and whose sample has such. */
  private static final Set<String> RECLAIMING = Set.of("job", "jobset", "podgroup", "trainjob");

  /** Kinds with a Workload for each replica. */
  private static final Set<String> WORKLOAD_PER_REPLICA = Set.of("deployment", "leaderworkerset");

  /** Kinds for which pods that fail aren't the end. */
  private static final Set<String> REPLACING = Set.of("podgroup");

  /** All kinds that have a manifest, by its name. */
  static List<KindRow> all() {
    return KindManifest.all().stream()
        .map(manifest -> new KindRow(manifest, description(manifest)))
        .toList();
  }

  private static JobKindDescription description(KindManifest manifest) {
    ObjectNode job = manifest.jobs().getFirst();
    return BuiltInIntegrations.descriptions().stream()
        .filter(it -> it.kind().apiVersion().equals(job.path("apiVersion").asText()))
        .filter(it -> it.kind().kind().equals(job.path("kind").asText()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no integration of " + manifest.name()));
  }

  String name() {
    return manifest.name();
  }

  /** The kind as {@link dev.sluice.testing.QueuedJobs} names it. */
  String type() {
    return description.kind().apiVersion() + "/" + description.kind().kind();
  }

  /** Whether a field suspends it; otherwise its pods are gated. */
  boolean suspends() {
    return !description.suspendField().isEmpty();
  }

  /** The path of the field that suspends it, as a JSON pointer. */
  String suspendPointer() {
    return "/" + String.join("/", description.suspendField());
  }

  /** Whether pods are the job, so that nobody makes them again. */
  boolean isPods() {
    return description.kind().kind().equals("Pod");
  }

  /**
   * Whether each of its pods has a Workload, and another pod takes the place of one that is gone.
   */
  boolean hasWorkloadsOfPods() {
    return name().equals("deployment");
  }

  boolean reclaims() {
    return RECLAIMING.contains(name());
  }

  /** How many Workloads a job of the manifest has. */
  int workloads() {
    return WORKLOAD_PER_REPLICA.contains(name())
        ? manifest.jobs().getFirst().at("/spec/replicas").asInt(1)
        : 1;
  }

  /** The situations in which a job of this kind can be. */
  Set<Situation> situations() {
    Set<Situation> situations = EnumSet.allOf(Situation.class);
    missing().keySet().forEach(situations::remove);
    return situations;
  }

  /** The other situations, and why a job of this kind can't be there. */
  Map<Situation, String> missing() {
    Map<Situation, String> missing = new EnumMap<>(Situation.class);
    if (!manifest.ends()) {
      missing.put(Situation.FINISHED, "runs until it is deleted");
      missing.put(Situation.FAILED, "runs until it is deleted");
    }
    if (REPLACING.contains(name())) {
      missing.put(Situation.FAILED, "waits for another pod in place of one that failed");
    }
    if (isPods()) {
      missing.put(Situation.STARTED_AGAIN, "pods that are stopped are deleted");
    }
    if (!reclaims()) {
      missing.put(Situation.RECLAIMED, "all pods are counted until the end");
    }
    return missing;
  }

  /** The situations of a job of this kind that is sent to a worker; none if it can't be sent. */
  Set<RemoteSituation> remoteSituations() {
    if (description.multiKueue().isEmpty()) {
      return Set.of();
    }
    Set<RemoteSituation> situations = EnumSet.allOf(RemoteSituation.class);
    missingRemotely().keySet().forEach(situations::remove);
    return situations;
  }

  /** The other situations of a job that is sent, and why it can't be there. */
  Map<RemoteSituation, String> missingRemotely() {
    Map<RemoteSituation, String> missing = new EnumMap<>(RemoteSituation.class);
    Map<Situation, String> here = missing();
    if (here.containsKey(Situation.FINISHED)) {
      missing.put(RemoteSituation.FINISHED, here.get(Situation.FINISHED));
    }
    if (here.containsKey(Situation.FAILED)) {
      missing.put(RemoteSituation.FAILED, here.get(Situation.FAILED));
    }
    if (isPods()) {
      missing.put(RemoteSituation.STOPPED, here.get(Situation.STARTED_AGAIN));
      missing.put(RemoteSituation.SENT_AGAIN, here.get(Situation.STARTED_AGAIN));
    }
    return missing;
  }

  @Override
  public String toString() {
    return name();
  }
}
