package dev.sluice.checks.multikueue.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.remote.RemoteCollection;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.remote.WorkerReader;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Watches the queues of one worker for the lifetime of one connection. */
final class RemoteQueueInformer {

  private static final String API = "apis/kueue.x-k8s.io/v1beta2/";

  private final RemoteCollection localQueues;
  private final RemoteCollection clusterQueues;

  /**
   * Starts watching.
   *
   * @param changed runs when the spec of a queue changed
   */
  RemoteQueueInformer(WorkerReader reader, Runnable changed) {
    this.localQueues = reader.read(API + "localqueues", "", any -> "", new SpecChanges(changed));
    this.clusterQueues =
        reader.read(API + "clusterqueues", "", any -> "", new SpecChanges(changed));
  }

  /** Whether all queues were listed once. */
  boolean listed() {
    return localQueues.isListed() && clusterQueues.isListed();
  }

  /** The message of the last failure to read the queues. */
  Optional<String> lastFailure() {
    return localQueues.lastFailure().or(clusterQueues::lastFailure);
  }

  /** The name of the ClusterQueue of a LocalQueue ({@code namespace/name}). */
  Optional<String> clusterQueueOf(String localQueue) {
    int slash = localQueue.indexOf('/');
    Key key = new Key(localQueue.substring(0, Math.max(0, slash)), localQueue.substring(slash + 1));
    return localQueues
        .objects()
        .find(key)
        .map(queue -> queue.path("spec").path("clusterQueue").asText())
        .filter(name -> !name.isEmpty());
  }

  /** The ClusterQueue of this name. */
  Optional<JsonNode> clusterQueue(String name) {
    return clusterQueues.objects().find(new Key("", name));
  }

  void stop() {
    localQueues.close();
    clusterQueues.close();
  }

  /** Reports changes of specs only: the status changes with every Workload. */
  private record SpecChanges(Runnable changed) implements RemoteCollection.Listener {

    @Override
    public void stateChanged() {
      changed.run();
    }

    @Override
    public void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
      if (before == null || after == null || !generation(before).equals(generation(after))) {
        changed.run();
      }
    }

    private static JsonNode generation(JsonNode queue) {
      return queue.path("metadata").path("generation");
    }
  }
}
