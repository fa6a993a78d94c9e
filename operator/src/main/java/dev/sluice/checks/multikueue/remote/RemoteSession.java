package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;

/** One session with a worker cluster, from its start to its first failure. */
public interface RemoteSession extends AutoCloseable {

  /**
   * Lists and watches; returns only after the session was closed.
   *
   * @param timeout the longest time until the watch must be established
   * @param events listener for events of the session
   * @throws dev.sluice.kube.client.ResponseStream.ResponseTimeoutException when the watch is not
   *     established in time
   * @throws RemoteLimitException when the worker sends more than is read from one
   * @throws IOException when anything else fails
   */
  void run(Duration timeout, Events events) throws IOException;

  /** The client of the cluster, for reading and writing there. */
  KubernetesClient client();

  /** Makes {@link #run} fail if the server is late; to be called regularly. */
  void probe();

  /** Ends the session; {@link #run} returns. */
  @Override
  void close();

  /** Listener for events of a session, called on the session's thread. */
  interface Events extends RemoteObjects.Changes {

    /** All objects are listed and the watch is established. */
    void established();

    /** A watch told of something, or lasted: a failure from now on is the first in a row. */
    void progressed();
  }

  /** Opens sessions. */
  @FunctionalInterface
  interface Connector {

    /**
     * Creates a session that is not running.
     *
     * @param objects the store of the objects that the session sees
     * @throws io.fabric8.kubernetes.client.KubernetesClientException when no client can be built
     *     from the credentials
     * @throws IOException when the login fails; a later login may succeed
     */
    RemoteSession open(WorkerCredentials workerCredentials, RemoteObjects objects)
        throws IOException;
  }
}
