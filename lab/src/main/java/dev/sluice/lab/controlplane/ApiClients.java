package dev.sluice.lab.controlplane;

import dev.sluice.kube.client.ClientConfigs;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Creates clients of control planes from their kubeconfigs only. */
public final class ApiClients {

  private ApiClients() {}

  /** A client without retries, which reports the present state; the caller closes it. */
  public static KubernetesClient once(Path kubeconfig) {
    return new KubernetesClientBuilder().withConfig(config(kubeconfig)).build();
  }

  /** A client with the default retries; the caller closes it. */
  public static KubernetesClient patient(Path kubeconfig) {
    Config config = config(kubeconfig);
    config.setRequestRetryBackoffLimit(Config.DEFAULT_REQUEST_RETRY_BACKOFFLIMIT);
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /** The same with a time limit of its own for each request. */
  public static KubernetesClient patient(Path kubeconfig, Duration requestTimeout) {
    Config config = config(kubeconfig);
    config.setRequestTimeout(Math.toIntExact(requestTimeout.toMillis()));
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static Config config(Path kubeconfig) {
    try {
      return ClientConfigs.of(Optional.of(kubeconfig));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
