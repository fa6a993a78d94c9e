package dev.sluice.kube.client;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The option {@code --kubeconfig} of commands that work on a cluster. */
public final class KubeconfigOption {

  private static final int MISSING = 3;

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "The cluster; found as any client finds it unless given.")
  private @Nullable Path kubeconfig;

  /** The file that was given; an empty text gives none. */
  public Optional<Path> file() {
    return Optional.ofNullable(kubeconfig).filter(path -> !path.toString().isEmpty());
  }

  /** What a command asks a cluster for; it returns the exit code. */
  @FunctionalInterface
  public interface ClusterCall {

    /**
     * Asks.
     *
     * @throws IOException when a file can't be read
     */
    int send() throws IOException;
  }

  /**
   * Asks this cluster; what fails is told in a line on standard error, in the same words and with
   * the same code by every command.
   *
   * @return the exit code of the call; 1 if the API server refused, 3 if it can't be reached or a
   *     file can't be read
   */
  public int exitCode(CommandSpec command, ClusterCall call) {
    PrintWriter errors = command.commandLine().getErr();
    try {
      return call.send();
    } catch (KubernetesClientException e) {
      errors.println("sluice: " + ApiErrorText.of(e, server()));
      return ApiErrorText.unreachable(e) ? MISSING : 1;
    } catch (IOException e) {
      errors.println("sluice: " + ApiErrorText.of(e));
      return MISSING;
    } catch (UncheckedIOException e) {
      errors.println("sluice: " + ApiErrorText.of(Objects.requireNonNull(e.getCause())));
      return MISSING;
    } finally {
      errors.flush();
    }
  }

  /** The address of the API server; empty if nothing tells it. */
  public Optional<String> server() {
    try {
      return Optional.of(config().getMasterUrl().replaceFirst("/$", ""));
    } catch (IOException e) {
      return Optional.empty();
    }
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
