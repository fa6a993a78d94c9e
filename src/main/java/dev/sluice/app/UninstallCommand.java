package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.install.Installer;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.KubeconfigOption;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice uninstall}: removes from a cluster what {@code operator --install} applied. */
@Command(
    name = "uninstall",
    description = {
      "Removes from a cluster what operator --install applied: webhook registrations and roles.",
      "With --definitions the definitions and the operator's namespace go too, and with them all"
          + " queues and Workloads. Stop the operator first."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing of it is left",
      "1:the API server refused",
      "2:the command line or the configuration is wrong",
      "3:the API server can't be reached, or a file can't be read"
    })
public final class UninstallCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Mixin private ConfigurationOption config = new ConfigurationOption();

  @Option(
      names = "--definitions",
      description = "Also remove definitions and namespace, and so all queues and Workloads.")
  private boolean definitions;

  @Override
  public Integer call() {
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
      Configuration configuration =
          ConfigurationLoader.load(config.file(), Optional.empty(), OperatorRunner::ownNamespace);
      new Installer(client, configuration, Optional.empty()).uninstall(definitions);
      spec.commandLine().getOut().println("uninstalled");
      if (!definitions) {
        spec.commandLine()
            .getOut()
            .println(
                "the definitions stay, and with them all queues and Workloads; requests in their"
                    + " older versions are refused until an operator converts them again");
      }
      return 0;
    } catch (ConfigurationException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (KubernetesClientException e) {
      spec.commandLine().getErr().println("sluice: " + ApiErrorText.of(e));
      return ApiErrorText.unreachable(e) ? 3 : 1;
    } catch (IOException e) {
      spec.commandLine().getErr().println("sluice: " + ApiErrorText.of(e));
      return 3;
    }
  }
}
