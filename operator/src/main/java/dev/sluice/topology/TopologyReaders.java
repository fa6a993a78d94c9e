package dev.sluice.topology;

import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.topology.PodStore.ParsedPod;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads nodes and pods while a flavor has a topology. Pods are listed before nodes, so that the
 * engine knows what is used of a node when it learns of the node.
 */
public final class TopologyReaders implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TopologyReaders.class);

  /** Pods that have not terminated. */
  private static final String PODS =
      "api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

  private static final String NODES = "api/v1/nodes";

  private final Reflectors reflectors;
  private final NodeStore nodes;
  private final PodStore pods;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Running running;

  /** The readers of a time in which they run. */
  private record Running(
      Reflector<ParsedPod> pods, Reflector<NodeState> nodes, CompletableFuture<Void> synced) {

    boolean isSynced() {
      return synced.isDone() && !synced.isCompletedExceptionally();
    }
  }

  /** Readers that are not started. */
  public TopologyReaders(Reflectors reflectors, NodeStore nodes, PodStore pods) {
    this.reflectors = reflectors;
    this.nodes = nodes;
    this.pods = pods;
  }

  /** Starts reading, if it doesn't run; completes when pods and nodes are listed. */
  public CompletableFuture<Void> start() {
    lock.lock();
    try {
      if (running == null) {
        Reflector<ParsedPod> podReader = reflectors.of("pods", PODS, pods);
        Reflector<NodeState> nodeReader = reflectors.of("nodes", NODES, nodes);
        CompletableFuture<Void> synced =
            podReader.start().thenCompose(any -> nodeReader.start()).thenRun(this::synced);
        running = new Running(podReader, nodeReader, synced);
      }
      return running.synced();
    } finally {
      lock.unlock();
    }
  }

  private void synced() {
    LOG.info("nodes={} otherPods={} topology=listed", nodes.size(), pods.others());
  }

  /** Whether pods and nodes are listed and followed. */
  public boolean isSynced() {
    lock.lock();
    try {
      return running != null && running.isSynced();
    } finally {
      lock.unlock();
    }
  }

  /** Stops reading, and forgets all pods and nodes. */
  @Override
  public void close() {
    lock.lock();
    try {
      Running stopping = running;
      running = null;
      if (stopping != null) {
        stopping.pods().close();
        stopping.nodes().close();
        nodes.clear();
        pods.clear();
      }
    } finally {
      lock.unlock();
    }
  }
}
