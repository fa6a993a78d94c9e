package dev.sluice.app;

import dev.sluice.api.config.ConfigurationException;
import dev.sluice.app.log.LogLevels;
import dev.sluice.app.log.ZapOptions;
import dev.sluice.app.module.StartRequirements;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.KubeconfigException;
import dev.sluice.kube.client.KubeconfigOption;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice operator}: runs the operator in the foreground. */
@Command(
    name = "operator",
    description = {
      "Runs the operator in the foreground, against any cluster, until it is told to end.",
      "With --install it first applies the API's definitions and the registration of its webhooks;"
          + " outside of the cluster these point at this process. Without, it changes nothing but"
          + " its own objects."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was told to end, by SIGTERM or SIGINT, and did",
      "1:it could not start, or had to end (its lease was lost); the log says why",
      "2:the command line or the configuration is wrong",
      "3:what it needs is missing: kubeconfig, API server, definitions, its namespace, or webhook"
          + " registrations for what it manages"
    })
public final class OperatorCommand implements Callable<Integer> {

  private static final int MISSING = 3;

  /** Where the image has them. */
  private static final String JOB_KINDS = "/opt/sluice/kinds";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Mixin private ConfigurationOption config = new ConfigurationOption();

  @Option(
      names = "--feature-gates",
      paramLabel = "A=true,B=false",
      description = "Feature gates; not together with featureGates in the file.")
  private @Nullable String featureGates;

  @Option(
      names = "--install",
      description = "First apply namespace, roles, definitions and webhook registration.")
  private boolean install;

  @Option(
      names = "--dashboard",
      description =
          "Serve the dashboard, as dashboard.enabled: true in the file does; its address is"
              + " logged.")
  private boolean dashboard;

  @Option(
      names = "--webhook-host",
      paramLabel = "HOST",
      defaultValue = "127.0.0.1",
      description =
          "With --install outside of a cluster: where the API server reaches this process"
              + " (${DEFAULT-VALUE}).")
  private String webhookHost = "127.0.0.1";

  @Option(
      names = "--webhook-client-ca",
      paramLabel = "FILE",
      description =
          "Answer admission reviews only to clients with a certificate of an authority in this PEM"
              + " file; the API server has to be set up to show one.")
  private @Nullable Path webhookClientAuthority;

  @Option(
      names = "--job-kinds",
      paramLabel = "DIRECTORY",
      defaultValue = JOB_KINDS,
      description =
          "Jars in it provide further kinds of jobs; their code has all rights of the operator"
              + " (${DEFAULT-VALUE}).")
  private Path jobKinds = Path.of(JOB_KINDS);

  @Option(
      names = "--log-level",
      paramLabel = "LEVEL",
      description = "How much is logged: " + LogLevels.ALLOWED + " (info).")
  private @Nullable String logLevel;

  @Mixin private ZapOptions zap = new ZapOptions();

  @Option(
      names = "--log-decisions",
      arity = "1",
      paramLabel = "true|false",
      defaultValue = "true",
      description =
          "Whether a line is logged for each decision about a Workload (${DEFAULT-VALUE}).")
  private boolean logDecisions = true;

  @Override
  public Integer call() {
    try {
      LogLevels.apply(Optional.ofNullable(logLevel), zap);
    } catch (ZapOptions.InvalidValueException e) {
      throw new ParameterException(spec.commandLine(), e.text(), e);
    }
    LogLevels.decisions(logDecisions);
    OldGenerationLimit.start();
    try {
      return OperatorRunner.run(
          new OperatorRunner.Options(
              kubeconfig.file(),
              config.file(),
              Optional.ofNullable(featureGates),
              dashboard,
              install,
              webhookHost,
              Optional.ofNullable(webhookClientAuthority),
              jobKinds));
    } catch (ConfigurationException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (StartRequirements.MissingException | NoSuchFileException | KubeconfigException e) {
      return ended(e, MISSING);
    } catch (IOException | GeneralSecurityException | KubernetesClientException e) {
      return ended(
          e, e instanceof KubernetesClientException k && ApiErrorText.unreachable(k) ? MISSING : 1);
    }
  }

  private int ended(Exception reason, int code) {
    String text =
        reason instanceof KubernetesClientException refused
            ? ApiErrorText.of(refused, kubeconfig.server())
            : ApiErrorText.of((Throwable) reason);
    spec.commandLine().getErr().println("sluice: the operator could not start: " + text);
    return code;
  }
}
