package dev.sluice.lab.controlplane.binaries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.BinarySource;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.BinarySourceChain;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.SourceFailedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Sources are asked in order; one that fails is named with its reason. */
class BinarySourceChainTest {

  private final List<String> said = new ArrayList<>();

  @Test
  void theFirstSourceThatGivesABundleIsTaken() throws Exception {
    BinarySourceChain chain = chain(giving("first", "/first"), giving("second", "/second"));

    Binaries binaries = chain.obtain();

    assertThat(binaries.file(Program.KWOK)).isEqualTo(Path.of("/first/kwok"));
    assertThat(said).isEmpty();
  }

  @Test
  void aFailedSourceIsNamedWithItsReasonAndTheNextIsAsked() throws Exception {
    BinarySourceChain chain = chain(failing("first", "is closed"), giving("second", "/second"));

    Binaries binaries = chain.obtain();

    assertThat(binaries.file(Program.API_SERVER)).isEqualTo(Path.of("/second/kube-apiserver"));
    assertThat(said)
        .containsExactly(
            "no kubernetes from first: is closed",
            "no etcd from first: is closed",
            "no kwok from first: is closed");
  }

  @Test
  void eachBundleMayComeFromAnotherSource() throws Exception {
    BinarySource kwokOnly =
        source(
            "kwok only",
            bundle -> {
              if (bundle == Bundle.KWOK) {
                return Path.of("/kwok");
              }
              throw new SourceFailedException("has kwok only");
            });

    Binaries binaries = chain(kwokOnly, giving("rest", "/rest")).obtain();

    assertThat(binaries.file(Program.KWOK)).isEqualTo(Path.of("/kwok/kwok"));
    assertThat(binaries.file(Program.ETCD)).isEqualTo(Path.of("/rest/etcd"));
  }

  @Test
  void whenNoSourceGivesABundleAllReasonsAreTold() {
    BinarySourceChain chain = chain(failing("first", "is closed"), failing("second", "is empty"));

    assertThatThrownBy(chain::obtain)
        .isInstanceOf(BinariesMissingException.class)
        .hasMessageContaining(
            "kubernetes (kube-apiserver, kube-controller-manager, kube-scheduler)")
        .hasMessageContaining("first: is closed")
        .hasMessageContaining("second: is empty")
        .hasMessageContaining("--binaries");
  }

  private BinarySourceChain chain(BinarySource... sources) {
    return new BinarySourceChain(List.of(sources), said::add);
  }

  private static BinarySource giving(String name, String directory) {
    return source(name, bundle -> Path.of(directory));
  }

  private static BinarySource failing(String name, String reason) {
    return source(
        name,
        bundle -> {
          throw new SourceFailedException(reason);
        });
  }

  private static BinarySource source(String name, Giver giver) {
    return new BinarySource() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Path obtain(Bundle bundle) throws SourceFailedException {
        return giver.give(bundle);
      }
    };
  }

  @FunctionalInterface
  private interface Giver {
    Path give(Bundle bundle) throws SourceFailedException;
  }
}
