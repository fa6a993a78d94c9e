package dev.sluice.server;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
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
final class Fakes {

  private Fakes() {}

  static final class Clock implements InstantSource {
    private Instant now = Instant.parse("2026-03-01T12:00:00Z");

    @Override
    public Instant instant() {
      return now;
    }

    void advance(Duration time) {
      now = now.plus(time);
    }
  }

  static final class Secret implements SecretAccess {
    private Optional<Stored> stored = Optional.empty();
    private int version;
    int writes;

    /** Runs before the next write, as if somebody else were faster. */
    Optional<Runnable> interference = Optional.empty();

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

    void put(Map<String, byte[]> data) {
      writes++;
      version++;
      stored = Optional.of(new Stored(new HashMap<>(data), String.valueOf(version)));
    }
  }

  static final class Publisher implements CaBundleInjector {
    final List<String> published = new ArrayList<>();

    @Override
    public void publish(String caBundle) {
      published.add(caBundle);
    }

    List<X509Certificate> trusted() throws GeneralSecurityException {
      return Pem.certificates(published.getLast());
    }
  }

  static CertificateWithKey selfMade(String host) throws GeneralSecurityException {
    var maker = new CertificateAuthority(InstantSource.system(), new SecureRandom());
    return maker.serving(
        maker.authority(Duration.ofDays(2)), List.of(host, "127.0.0.1"), Duration.ofDays(1));
  }
}
