package dev.sluice.server;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.server.certificates.InternalCertificates.CaBundleInjector;
import dev.sluice.server.certificates.InternalCertificates.SecretAccess;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A clock that is set by hand, a Secret and an API server in memory. */
public final class Fakes {

  private Fakes() {}

  /** A clock that stands until it is advanced. */
  public static final class Clock implements InstantSource {
    private Instant now = Instant.parse("2026-03-01T12:00:00Z");

    @Override
    public Instant instant() {
      return now;
    }

    /** From now on it is so much later. */
    public void advance(Duration time) {
      now = now.plus(time);
    }
  }

  /** A Secret in memory, with versions. */
  public static final class Secret implements SecretAccess {
    private Optional<Stored> stored = Optional.empty();
    private int version;

    /** How often it was written. */
    public int writes;

    /** Runs before the next write, as if somebody else were faster. */
    public Optional<Runnable> interference = Optional.empty();

    @Override
    public Optional<Stored> read() {
      return stored;
    }

    @Override
    public boolean write(Map<String, byte[]> data, Optional<String> expected) {
      interference.ifPresent(
          it -> {
            interference = Optional.empty();
            it.run();
          });
      if (!stored.map(Stored::version).equals(expected)) {
        return false;
      }
      put(data);
      return true;
    }

    /** Writes whatever the version is. */
    public void put(Map<String, byte[]> data) {
      writes++;
      version++;
      stored = Optional.of(new Stored(new HashMap<>(data), String.valueOf(version)));
    }
  }

  /** Keeps what is published. */
  public static final class Publisher implements CaBundleInjector {
    final List<String> published = new ArrayList<>();

    @Override
    public void publish(String caBundle) {
      published.add(caBundle);
    }

    /** The certificates of the bundle published last. */
    public List<X509Certificate> trusted() throws GeneralSecurityException {
      return Pem.certificates(published.getLast());
    }
  }

  /** A certificate for {@code host} and loopback by an authority of its own. */
  public static CertificateWithKey selfMade(String host) throws GeneralSecurityException {
    var maker = new CertificateAuthority(InstantSource.system(), new SecureRandom());
    return maker.serving(
        maker.authority(Duration.ofDays(2)), List.of(host, "127.0.0.1"), Duration.ofDays(1));
  }
}
