package dev.sluice.app;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.app.Main.ConfigurationOption;
import dev.sluice.app.log.LogLevels;
import dev.sluice.app.log.ZapOptions;
import dev.sluice.app.module.StartRequirements;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ClientConfigs.KubeconfigException;
import dev.sluice.kube.client.KubeconfigOption;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.NotificationEmitter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

  /**
   * Keeps the memory of a small process near the size of the objects that it uses.
   *
   * <p>The serial collector, which Java chooses in a small container, lets the old generation grow
   * to the largest heap that is allowed before it collects it: of 97 MiB only 44 were in use after
   * 1,500 Jobs. Here it is collected when it has grown by a third since it was last collected, and
   * once more when the process has nothing to do, because what a start and the last jobs left would
   * stay for ever. The system gets back what is free beyond a tenth. Other collectors do the same
   * by themselves, and are left alone.
   *
   * <p>Figures: docs/performance.md, "Memory of the process".
   */
  static final class OldGenerationLimit {

    private static final Logger log = LoggerFactory.getLogger(OldGenerationLimit.class);
    private static final String SERIAL = "Tenured Gen";

    /** Bytes of growth that are worth a collection, however small the generation is. */
    private static final long LEAST_GROWTH = 10L << 20;

    /** Bytes from which on the first collection is worth its time: what a start leaves lives on. */
    private static final long FIRST = 40L << 20;

    private static final Duration LOOK = Duration.ofMinutes(1);

    /**
     * As many collections of the young generation in {@link #LOOK} are those of an idle process.
     */
    private static final long IDLE = 2;

    /** Bytes of growth that are worth a collection in an idle process. */
    private static final long IDLE_GROWTH = 3L << 20;

    private static final String YOUNG_COLLECTOR = "Copy";

    private final MemoryPoolMXBean oldGeneration;
    private final AtomicLong usedAfterCollection = new AtomicLong();

    private OldGenerationLimit(MemoryPoolMXBean oldGeneration) {
      this.oldGeneration = oldGeneration;
    }

    /** Begins to watch the old generation of this process, if its collector is the serial one. */
    static void start() {
      start(LOOK);
    }

    /**
     * The same.
     *
     * @param look how often it is seen whether the process has nothing to do
     */
    static void start(Duration look) {
      Optional<MemoryPoolMXBean> serial =
          ManagementFactory.getMemoryPoolMXBeans().stream()
              .filter(pool -> pool.getName().equals(SERIAL) && pool.isUsageThresholdSupported())
              .findFirst();
      serial.ifPresent(pool -> new OldGenerationLimit(pool).watch(look));
    }

    private void watch(Duration look) {
      HotSpotDiagnosticMXBean machine =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      machine.setVMOption("MinHeapFreeRatio", "5");
      machine.setVMOption("MaxHeapFreeRatio", "10");
      if (ManagementFactory.getMemoryMXBean() instanceof NotificationEmitter memory) {
        memory.addNotificationListener(
            (notification, context) -> collect(),
            notification ->
                notification.getType().equals(MemoryNotificationInfo.MEMORY_THRESHOLD_EXCEEDED),
            null);
      }
      MemoryUsage memoryUsage = oldGeneration.getUsage();
      oldGeneration.setUsageThreshold(first(memoryUsage.getUsed(), memoryUsage.getMax()));
      ManagementFactory.getGarbageCollectorMXBeans().stream()
          .filter(collector -> collector.getName().equals(YOUNG_COLLECTOR))
          .findFirst()
          .ifPresent(
              young ->
                  Thread.ofVirtual().name("idle-heap").start(() -> collectWhenIdle(young, look)));
    }

    private void collectWhenIdle(GarbageCollectorMXBean young, Duration look) {
      try {
        long before = young.getCollectionCount();
        while (true) {
          Thread.sleep(look);
          long now = young.getCollectionCount();
          boolean idle = now - before <= IDLE;
          before = now;
          if (idle
              && oldGeneration.getUsage().getUsed() - usedAfterCollection.get() >= IDLE_GROWTH) {
            collectNow();
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void collect() {
      if (oldGeneration.getUsage().getUsed() >= oldGeneration.getUsageThreshold()) {
        collectNow();
      }
    }

    private void collectNow() {
      long before = oldGeneration.getUsage().getUsed();
      System.gc();
      MemoryUsage memoryUsage = oldGeneration.getUsage();
      usedAfterCollection.set(memoryUsage.getUsed());
      oldGeneration.setUsageThreshold(threshold(memoryUsage.getUsed(), memoryUsage.getMax()));
      log.debug("heap old-generation-before={} after={}", before, memoryUsage.getUsed());
    }

    /** The same for the first time; a threshold beyond what there is would be refused. */
    static long first(long used, long max) {
      long first = Math.max(FIRST, threshold(used, max));
      return max < 0 ? first : Math.min(first, max);
    }

    /**
     * From how many bytes on the old generation is collected again.
     *
     * @param used what lives in it, in bytes
     * @param max what it may grow to, in bytes; Java collects it by itself there
     */
    static long threshold(long used, long max) {
      long grown = used + Math.max(LEAST_GROWTH, used / 3);
      return max < 0 ? grown : Math.min(grown, max);
    }
  }
}
