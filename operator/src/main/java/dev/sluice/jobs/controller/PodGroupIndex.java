package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.policy.JobAction.MakePodGroup;
import dev.sluice.jobs.policy.NativePodGroups;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether and in which version the API server serves PodGroups of kube-scheduler, and which of
 * those that the operator made are scheduled. Usable from any thread.
 */
public final class PodGroupIndex implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PodGroupIndex.class);

  /** The versions whose PodGroups are made, the best one first. */
  private static final List<String> VERSIONS = List.of("v1beta1", "v1alpha3", "v1alpha2");

  private final Reflectors reflectors;
  private final Store<Boolean> scheduledStore = new Store<>(PodGroupMaker::isScheduled);
  private volatile @Nullable Reflector<Store.Item<Boolean>> reflector;
  private volatile Optional<String> version = Optional.empty();
  private volatile boolean closed;

  /** Nothing is asked before the start. */
  public PodGroupIndex(Reflectors reflectors) {
    this.reflectors = reflectors;
  }

  /**
   * Asks what the API server serves; completes when the PodGroups are listed, or there are none.
   *
   * @param executor asks
   */
  public CompletableFuture<Void> start(Executor executor) {
    return CompletableFuture.supplyAsync(this::served, executor).thenCompose(this::follow);
  }

  private Optional<String> served() {
    Set<String> groupVersions = names("/apis/" + NativePodGroups.GROUP, "versions", "version");
    return VERSIONS.stream()
        .filter(groupVersions::contains)
        .filter(
            each ->
                names("/apis/" + NativePodGroups.GROUP + "/" + each, "resources", "name")
                    .contains(NativePodGroups.PLURAL))
        .findFirst();
  }

  private Set<String> names(String path, String list, String field) {
    String answer = reflectors.client().raw(path);
    Set<String> names = new HashSet<>();
    try {
      if (answer != null) {
        for (JsonNode each : JsonMappers.JSON.readTree(answer).path(list)) {
          names.add(each.path(field).asText());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("what " + path + " answers is not JSON", e);
    }
    return names;
  }

  private CompletableFuture<Void> follow(Optional<String> found) {
    if (found.isEmpty() || closed) {
      LOG.warn(
          "feature gate WASPodGroups has no effect: the API server serves no {} of {} in {};"
              + " jobs that ask for them start without",
          NativePodGroups.PLURAL,
          NativePodGroups.GROUP,
          String.join(", ", VERSIONS));
      return CompletableFuture.completedFuture(null);
    }
    version = found;
    Reflector<Store.Item<Boolean>> made =
        reflectors.of(
            NativePodGroups.PLURAL,
            Reflectors.labeled(
                "apis/" + NativePodGroups.GROUP + "/" + found.get() + "/" + NativePodGroups.PLURAL,
                KueueConstants.MANAGED,
                "true"),
            scheduledStore);
    reflector = made;
    return made.start();
  }

  /** The version in which PodGroups are made; empty if the API server serves none. */
  public Optional<String> version() {
    return version;
  }

  /**
   * Whether kube-scheduler has once found a node for every pod of a PodGroup; a pod that comes
   * after that is a replacement, for which no others need be waited for.
   */
  public boolean isScheduled(String namespace, String podGroup) {
    return scheduledStore.find(namespace, podGroup).orElse(false);
  }

  @Override
  public void close() {
    closed = true;
    Reflector<?> started = reflector;
    if (started != null) {
      started.close();
    }
  }

  /**
   * Makes the PodGroups of kube-scheduler that a start needs. One that an earlier start left is
   * taken if it is as it would be made, and replaced otherwise: what is scheduled once counts as
   * such for ever, and the number of pods can't be changed everywhere.
   */
  static final class PodGroupMaker {

    /** What became of it. */
    sealed interface Result {

      /** The PodGroup is there. */
      record Made() implements Result {}

      /** An earlier one has to be gone first. */
      record InProgress() implements Result {}

      /** It can't be made, for this reason. */
      record Refused(String why) implements Result {}
    }

    private final JobClient jobClient;

    PodGroupMaker(JobClient jobClient) {
      this.jobClient = jobClient;
    }

    /** Makes one, or takes the one that is there. */
    Result make(MakePodGroup make) throws InterruptedException {
      return switch (Futures.forResult(jobClient.create(make.collection(), make.podGroup()))) {
        case ApiOutcome.Written written -> new Result.Made();
        case ApiOutcome.Conflict conflict -> taken(make);
        case ApiOutcome.Gone gone -> new Result.Refused(gone.message());
        case ApiOutcome.Refused refused -> new Result.Refused(refused.message());
        case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      };
    }

    private Result taken(MakePodGroup make) throws InterruptedException {
      String name = make.podGroup().path("metadata").path("name").asText();
      String path = make.collection() + "/" + name;
      Optional<ObjectNode> found = Futures.forResult(jobClient.read(path));
      if (found.isEmpty()) {
        return new Result.InProgress();
      }
      JsonNode metadata = found.get().path("metadata");
      if (!owner(found.get()).equals(owner(make.podGroup()))) {
        return new Result.Refused("PodGroup " + name + " is there and of somebody else");
      }
      if (metadata.has("deletionTimestamp")) {
        return new Result.InProgress();
      }
      if (minCount(found.get()) == minCount(make.podGroup()) && !isScheduled(found.get())) {
        return new Result.Made();
      }
      return switch (Futures.forResult(jobClient.delete(path, metadata.path("uid").asText()))) {
        case ApiOutcome.Refused refused -> new Result.Refused(refused.message());
        case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
        default -> new Result.InProgress();
      };
    }

    /** Whether kube-scheduler has once found a node for every pod of a PodGroup. */
    static boolean isScheduled(JsonNode podGroup) {
      for (JsonNode condition : podGroup.path("status").path("conditions")) {
        String type = condition.path("type").asText();
        // the second is the name that Kubernetes 1.37 has for the first
        if ((type.equals("PodGroupScheduled") || type.equals("PodGroupInitiallyScheduled"))
            && condition.path("status").asText().equals("True")) {
          return true;
        }
      }
      return false;
    }

    private static String owner(JsonNode podGroup) {
      return podGroup.path("metadata").path("ownerReferences").path(0).path("uid").asText();
    }

    private static int minCount(JsonNode podGroup) {
      return podGroup.at("/spec/schedulingPolicy/gang/minCount").asInt();
    }
  }
}
