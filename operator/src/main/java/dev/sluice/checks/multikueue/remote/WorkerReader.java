package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Reads collections of one connected worker cluster, within the worker's budget. There is one for
 * each connection; a later connection has another one.
 */
public final class WorkerReader {

  private final String cluster;
  private final RemoteSession session;
  private final RemoteBudget budget;
  private final ConnectionContext connectionContext;
  private final Consumer<RemoteLimitException> cutOff;

  /**
   * A reader over the connections of a session.
   *
   * @param cutOff ends the connection to a worker that sends more than is read from one
   */
  WorkerReader(
      String cluster,
      RemoteSession session,
      RemoteBudget budget,
      ConnectionContext connectionContext,
      Consumer<RemoteLimitException> cutOff) {
    this.cluster = cluster;
    this.session = session;
    this.budget = budget;
    this.connectionContext = connectionContext;
    this.cutOff = cutOff;
  }

  /** The name of the worker. */
  public String cluster() {
    return cluster;
  }

  /**
   * Begins to list and watch a collection.
   *
   * @param path path of the kind, such as {@code apis/batch/v1/jobs}
   * @param selector the label that the objects have, as {@code key=value}; empty for all objects
   * @param index the value by which objects are found; empty for none
   * @param listener is told of changes, on the reading thread
   */
  public RemoteCollection read(
      String path,
      String selector,
      Function<JsonNode, String> index,
      RemoteCollection.Listener listener) {
    KubernetesClient client = session.client();
    RemoteObjects objects = new RemoteObjects(budget, index);
    RemoteReflector reflector =
        new RemoteReflector(
            client.getHttpClient(),
            client.getMasterUrl().toString(),
            path,
            selector,
            objects,
            connectionContext.clock());
    RemoteCollection collection =
        new RemoteCollection(reflector, objects, connectionContext, cutOff, listener);
    collection.start();
    return collection;
  }
}
