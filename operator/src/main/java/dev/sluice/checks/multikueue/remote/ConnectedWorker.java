package dev.sluice.checks.multikueue.remote;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.function.Consumer;

/**
 * One connection to a worker cluster, while it lasts.
 *
 * @param client reads and writes in the cluster
 * @param cutOff ends this connection, and no later one, on another thread, for the reason given:
 *     the cluster sends more than is read from one
 */
public record ConnectedWorker(KubernetesClient client, Consumer<String> cutOff) {}
