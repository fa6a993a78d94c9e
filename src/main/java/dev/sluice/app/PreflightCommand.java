package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.install.Preflight;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.KubeconfigOption;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice preflight}: what a switch to Sluice needs, without touching the cluster. */
@Command(
    name = "preflight",
    description = {
      "Says what has to be done before Sluice takes the place of another operator of the API in a"
          + " cluster, and what will differ.",
      "It reads only: no request but get and list is sent."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing has to be done before",
      "1:something has to be done before: the rows \"todo\"; or the API server refused",
      "2:the command line or the configuration is wrong",
      "3:the API server can't be reached, or a file can't be read"
    })
public final class PreflightCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Mixin private ConfigurationOption config = new ConfigurationOption();

  @Override
  public Integer call() {
    PrintWriter errors = spec.commandLine().getErr();
    try {
      Configuration configuration =
          ConfigurationLoader.load(config.file(), Optional.empty(), OperatorRunner::ownNamespace);
      try (KubernetesClient client =
          new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
        return print(
            new Preflight(
                    client,
                    configuration,
                    new OptionsMapper(configuration).admittedRequests(),
                    InstantSource.system())
                .report());
      }
    } catch (ConfigurationException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (KubernetesClientException e) {
      errors.println("sluice: " + ApiErrorText.of(e));
      return ApiErrorText.unreachable(e) ? 3 : 1;
    } catch (IOException e) {
      errors.println("sluice: " + ApiErrorText.of(e));
      return 3;
    }
  }

  private int print(List<Preflight.Row> rows) {
    PrintWriter out = spec.commandLine().getOut();
    for (Preflight.Row row : rows) {
      out.println(
          "%-4s  %-19s  %s"
              .formatted(
                  row.severity().name().toLowerCase(Locale.ROOT), row.subject(), row.text()));
    }
    long todo = rows.stream().filter(row -> row.severity() == Preflight.Severity.TODO).count();
    out.println(
        todo == 0
            ? "nothing has to be done before the switch"
            : todo + " to be done before or during the switch, see docs/switching.md");
    return todo == 0 ? 0 : 1;
  }
}
