package dev.sluice.kube.client;

import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --kubeconfig} of commands that work on a cluster. */
public final class KubeconfigOption {

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "The cluster; found as any client finds it unless given.")
  private @Nullable Path kubeconfig;

  /** The file that was given; an empty text gives none. */
  public Optional<Path> file() {
    return Optional.ofNullable(kubeconfig).filter(path -> !path.toString().isEmpty());
  }

  /**
   * The configuration of a client of this cluster.
   *
   * @throws IOException when the file can't be read
   */
  public Config config() throws IOException {
    return ClientConfigs.of(file());
  }
}
