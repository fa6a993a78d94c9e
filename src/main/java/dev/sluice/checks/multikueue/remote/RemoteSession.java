package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.WorkerCredentials;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;

/** One connection to a worker cluster, from its beginning to its first failure. */
public interface RemoteSession extends AutoCloseable {

  /**
   * Lists and watches; returns only when it was closed.
   *
   * @param patience how long it may take until the watch stands
   * @param events is told of what is seen
   * @throws dev.sluice.workloads.LateAnswerException when the watch doesn't stand in time
   * @throws IOException when anything fails
   */
  void run(Duration patience, Events events) throws IOException;

  /** The client of the cluster, for reading and writing there. */
  KubernetesClient client();

  /** Ends {@link #run} with a failure if nothing was heard for too long; to be called at times. */
  void probe();

  /** Ends it; {@link #run} returns. */
  @Override
  void close();

  /** Is told of what a session sees, on the session's thread. */
  interface Events extends RemoteObjects.Changes {

    /** Everything is listed, and the watch stands. */
    void established();
  }

  /** Makes sessions. */
  @FunctionalInterface
  interface Connector {

    /**
     * A session that isn't run yet.
     *
     * @param objects where it keeps what it sees
     * @throws io.fabric8.kubernetes.client.KubernetesClientException when no client can be made of
     *     the credentials
     * @throws IOException when logging in fails, which may succeed another time
     */
    RemoteSession open(WorkerCredentials workerCredentials, RemoteObjects objects)
        throws IOException;
  }
}
