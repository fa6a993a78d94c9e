package dev.sluice.app.module;

import dev.sluice.api.config.Configuration;
import dev.sluice.app.module.OperatorContext.ProcessSettings;
import dev.sluice.install.InstallManifests;
import dev.sluice.install.InstallationWatch;
import dev.sluice.install.Installer;
import dev.sluice.install.RegistrationRepair;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.OwnUser;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.leader.SharedObjectsGuard;
import dev.sluice.metrics.InstallationMetrics;
import dev.sluice.server.certificates.KubernetesCaBundleInjector;
import dev.sluice.server.certificates.ServerKeys;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the operator needs in the cluster besides its queues: registrations, the Secret of its
 * certificate, its role, and endpoints behind the Service of its webhooks. Installs that if it was
 * asked for, checks it at the start, and follows it from then on: what is missing is put back by an
 * operator that installed it, and by one that has the service account of the shipped manifests;
 * what can't be put back is told by readiness, by a metric and in the log.
 */
public final class InstallationModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(InstallationModule.class);
  private static final Duration LEASE_LOOKS = Duration.ofSeconds(1);

  /** The API server looks every few seconds whether it reaches an aggregated API. */
  private static final Duration REACHED_WITHIN = Duration.ofMinutes(1);

  private static final Duration AGAIN = Duration.ofSeconds(10);

  private static final String REGISTRATIONS = "registrations";
  private static final String CERTIFICATE = "certificate";
  private static final String ROLES = "roles";
  private static final String ENDPOINTS = "endpoints";

  private final OperatorContext context;
  private final Configuration configuration;
  private final Optional<Installer> installer;
  private final InstallationMetrics metrics;
  private final InstallationWatch watch;
  private final Supplier<Optional<CertificateWithKey>> certificate;
  private final Map<String, String> faults = new ConcurrentHashMap<>();
  private final AtomicBoolean asked = new AtomicBoolean();
  private final AtomicBoolean held = new AtomicBoolean();
  private final AtomicBoolean again = new AtomicBoolean();
  private final ReentrantLock looking = new ReentrantLock();
  private final RegistrationReadiness registrations = new RegistrationReadiness();
  private final ServedDefinitions definitions;
  private volatile Runnable trustChanged = () -> {};
  private volatile boolean reachedByService;
  private volatile boolean hadSecret;
  private volatile boolean closed;

  /**
   * Adds its checks to the readiness that {@code servers} tells.
   *
   * @param definitions tell of changes of those with a conversion
   */
  public InstallationModule(
      OperatorContext context,
      ServerModule servers,
      ServedDefinitions definitions,
      Optional<Installer> installer) {
    this.context = context;
    this.definitions = definitions;
    this.configuration = context.configuration();
    this.installer = installer;
    this.metrics = new InstallationMetrics(context.metrics().registry(), expiries(servers.keys()));
    this.watch = new InstallationWatch(context.reflectors());
    this.certificate = servers.keys().webhooks()::current;
    servers.addReadinessCheck("webhook-registrations", registrations::isReady);
    servers.addReadinessCheck("webhook-endpoints", () -> !faults.containsKey(ENDPOINTS));
  }

  /**
   * What is done when the Secret of the certificate, or an object that the trust in it is written
   * into, may have changed; to be called before the start.
   */
  public void onTrustChanged(Runnable action) {
    trustChanged = action;
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    Optional<RegistrationRepair> repair =
        installer.isPresent() ? Optional.of(installed(installer.get())) : checked();
    for (String object : new String[] {REGISTRATIONS, CERTIFICATE, ROLES, ENDPOINTS}) {
      metrics.set(object, false);
    }
    follow(repair);
  }

  private RegistrationRepair installed(Installer installing) throws IOException {
    try {
      context.shared().await(LEASE_LOOKS);
    } catch (SharedObjectsGuard.HeldByOtherException e) {
      throw new StartRequirements.MissingException("nothing is installed: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the lease was waited for", e);
    }
    installing.install(definitions);
    StartRequirements.check(context.client(), configuration.namespace());
    context.schedule(REACHED_WITHIN, () -> leaveUnreached(installing));
    return installing.repair(Optional.of(context.shared()::check));
  }

  private void leaveUnreached(Installer installing) {
    if (closed) {
      return;
    }
    installing
        .leaveUnreached(context.client())
        .ifPresent(reason -> LOG.warn("visibility api registered=false reason=\"{}\"", reason));
  }

  /** What puts registrations back, where this is the operator of the shipped manifests. */
  private Optional<RegistrationRepair> checked() throws IOException {
    KubernetesClient client = context.client();
    StartRequirements.check(client, configuration.namespace());
    String own = InstallManifests.user(configuration.namespace());
    Optional<RegistrationRepair> repair =
        OwnUser.await(client)
            .filter(own::equals)
            .map(
                user ->
                    new RegistrationRepair(
                        client,
                        WebhookRegistration.restored(configuration, user),
                        Optional.of(context.shared()::check),
                        shown()));
    boolean isRepairedLater = repair.isPresent() && !repairAtStart(repair.get());
    StartRequirements.Registrations read = StartRequirements.Registrations.read(client);
    if (isRepairedLater) {
      registrations.leaveUnchecked();
    } else {
      StartRequirements.checkRegistrations(read, configuration);
    }
    reachedByService = read.nameService();
    return repair;
  }

  private static Map<String, Supplier<Optional<Instant>>> expiries(ServerKeys keys) {
    return keys.byServer().entrySet().stream()
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, key -> key.getValue()::expiry));
  }

  /** The certificate of the webhooks, where the operator doesn't publish its authority itself. */
  private Optional<Supplier<Optional<CertificateWithKey>>> shown() {
    return configuration.internalCertManagement().enable()
        ? Optional.empty()
        : Optional.of(certificate);
  }

  /**
   * What can't be repaired is told by the check that follows. While another operator of the API
   * leads, the registrations are its own: false, and they are repaired when it has gone.
   */
  private static boolean repairAtStart(RegistrationRepair repair) {
    try {
      var unused = repair.look();
    } catch (KubernetesClientException e) {
      LOG.warn("registrations repaired=false reason=\"{}\"", ApiErrorText.of(e));
    } catch (SharedObjectsGuard.HeldByOtherException e) {
      LOG.warn("registrations repaired=false reason=\"{}\"", e.getMessage());
      return false;
    }
    return true;
  }

  private void follow(Optional<RegistrationRepair> repair) {
    RegistrationRepair looks =
        repair.orElseGet(
            () ->
                new RegistrationRepair(
                    context.client(),
                    WebhookRegistration.of(
                        configuration, WebhookRegistration.service(configuration)),
                    Optional.empty(),
                    shown()));
    watch.registrations(
        () -> {
          trustChanged.run();
          lookSoon(looks);
        });
    var certificates = configuration.internalCertManagement();
    if (certificates.enable()) {
      followTrust(certificates.webhookSecretName(), repair.isPresent());
    }
    if (repair.isEmpty()) {
      return;
    }
    watch.roles(this::rolesChanged);
    if (reachedByService) {
      watch.endpoints(
          configuration.namespace(),
          certificates.webhookServiceName(),
          ProcessSettings.ownPod().orElse(""),
          ownAddresses(),
          leadsHere ->
              tell(
                  ENDPOINTS,
                  leadsHere
                      ? Optional.empty()
                      : Optional.of(
                          "Service "
                              + certificates.webhookServiceName()
                              + " leads to no pod of this operator, so every job and queue is"
                              + " refused; its selector has to match the labels of the pods")));
    }
  }

  /** Follows what {@link CertificateModule} reads and writes, so that it needn't ask for it. */
  private void followTrust(String secret, boolean isShipped) {
    watch.secret(
        configuration.namespace(),
        secret,
        exists -> {
          trustChanged.run();
          if (isShipped) {
            secretChanged(exists);
          }
        });
    watch.services(trustChanged);
    definitions.observe(
        name -> {
          if (KubernetesCaBundleInjector.CONVERTED.contains(name)) {
            trustChanged.run();
          }
        });
    var unused = definitions.start();
  }

  /** Looks on another thread, once for any number of changes meanwhile. */
  private void lookSoon(RegistrationRepair repair) {
    if (!asked.getAndSet(true) && !closed) {
      context.executor().execute(() -> look(repair));
    }
  }

  private void look(RegistrationRepair repair) {
    looking.lock();
    try {
      asked.set(false);
      RegistrationRepair.Finding finding = repair.look();
      registrations.found(finding);
      tell(REGISTRATIONS, Optional.of(finding.text()).filter(any -> finding.isFault()));
      if (finding.isFault() && !again.getAndSet(true)) {
        // the end of it needn't be a change of them: a certificate in a file may be exchanged
        context.schedule(
            AGAIN,
            () -> {
              again.set(false);
              lookSoon(repair);
            });
      }
    } catch (RuntimeException e) {
      if (!closed) {
        registrations.failed(e);
        if (!(e instanceof KubernetesClientException k && ApiErrorText.unreachable(k))) {
          tell(REGISTRATIONS, Optional.of("they can't be put back: " + ApiErrorText.of(e)));
        }
        if (!(e instanceof SharedObjectsGuard.HeldByOtherException)) {
          context.schedule(AGAIN, () -> lookSoon(repair));
        } else if (!held.getAndSet(true)) {
          context.schedule(LEASE_LOOKS, () -> lookOnceFree(repair));
        }
      }
    } finally {
      looking.unlock();
    }
  }

  /** While another leads only the lease is read; once it has gone, the registrations are. */
  private void lookOnceFree(RegistrationRepair repair) {
    if (closed) {
      return;
    }
    try {
      context.shared().check();
    } catch (SharedObjectsGuard.HeldByOtherException e) {
      context.schedule(LEASE_LOOKS, () -> lookOnceFree(repair));
      return;
    } catch (RuntimeException e) {
      context.schedule(AGAIN, () -> lookOnceFree(repair));
      return;
    }
    held.set(false);
    lookSoon(repair);
  }

  /** Before it was there for the first time, it is about to be made. */
  private void secretChanged(boolean exists) {
    hadSecret |= exists;
    boolean lost = hadSecret && !exists;
    tell(
        CERTIFICATE,
        lost ? Optional.of("the Secret of the certificate was deleted") : Optional.empty());
  }

  private void rolesChanged(Optional<String> missing) {
    tell(ROLES, missing.map(name -> name + " does not exist"));
    if (missing.isPresent()) {
      installer.ifPresent(this::permitSoon);
    }
  }

  /** Puts roles back on another thread, and tries again until none is missing. */
  private void permitSoon(Installer installing) {
    if (closed || !faults.containsKey(ROLES)) {
      return;
    }
    context
        .executor()
        .execute(
            () -> {
              try {
                context.shared().check();
                installing.permit();
              } catch (RuntimeException e) {
                LOG.warn("roles repaired=false reason=\"{}\"", ApiErrorText.of(e));
                context.schedule(AGAIN, () -> permitSoon(installing));
              }
            });
  }

  /** Equal faults are told once. */
  private void tell(String object, Optional<String> fault) {
    String before = fault.isPresent() ? faults.put(object, fault.get()) : faults.remove(object);
    metrics.set(object, fault.isPresent());
    if (fault.isPresent() && !fault.get().equals(before)) {
      LOG.warn("installation object={} fault=\"{}\"", object, fault.get());
    } else if (fault.isEmpty() && before != null) {
      LOG.info("installation object={} fault=none", object);
    }
  }

  private static Set<InetAddress> ownAddresses() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .collect(Collectors.toUnmodifiableSet());
    } catch (IOException e) {
      LOG.warn("own addresses unknown reason=\"{}\"", e.toString());
      return Set.of();
    }
  }

  @Override
  public void close() {
    closed = true;
    watch.close();
    try {
      installer.ifPresent(installing -> installing.leave(context.client()));
    } catch (RuntimeException e) {
      LOG.warn("visibility api unregistered=false reason=\"{}\"", ApiErrorText.of(e));
    }
  }

  /**
   * Whether the API server asks this operator, as far as the looks at the registrations tell.
   * Usable from any thread.
   */
  static final class RegistrationReadiness {

    private volatile boolean unchecked;
    private volatile boolean unasked;

    /** Says that nothing was checked at the start, because another operator led. */
    void leaveUnchecked() {
      unchecked = true;
    }

    /** Takes what a look found, and put right where it might. */
    void found(RegistrationRepair.Finding finding) {
      unasked = finding.isFault() && finding.absent();
      unchecked = false;
    }

    /**
     * Takes why a look or a repair failed. Where the start checked nothing, that is what the start
     * would have ended with, unless the other operator leads still.
     */
    void failed(RuntimeException failure) {
      boolean isTold =
          !(failure instanceof SharedObjectsGuard.HeldByOtherException)
              && !(failure instanceof KubernetesClientException e && ApiErrorText.unreachable(e));
      unasked |= unchecked && isTold;
    }

    /** Whether nothing is known that keeps the API server from asking. */
    boolean isReady() {
      return !unasked;
    }
  }
}
