package dev.sluice.lab.controlplane.binaries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.GoModuleBuilder;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.SourceFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bundles are built from the project's module files, by a {@code go} that is played here. */
class GoModuleBuilderTest {

  @TempDir private Path directory = Path.of("");
  private Path tools = Path.of("");
  private Path target = Path.of("");
  private final List<String> said = new ArrayList<>();
  private final ModuleFiles modules = new ModuleFiles();

  @BeforeEach
  void setUp() throws Exception {
    tools = Files.createDirectory(directory.resolve("tools"));
    target = Files.createDirectory(directory.resolve("target"));
  }

  @Test
  void withoutGoTheReasonIsGiven() {
    assertThatThrownBy(() -> maker().make(Bundle.ETCD, target))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("there is no Go tool chain (no \"go\" on the PATH)");
  }

  @Test
  void goIsRunBesideTheModuleFilesWithThePinnedVersion() throws Exception {
    goThat("pwd > $OUT/where; cp go.mod go.sum $OUT; echo \"$@\" > $OUT/arguments");

    maker().make(Bundle.KUBERNETES, target);

    assertThat(directory.resolve("go.mod")).content().contains("k8s.io/kubernetes v1.36.");
    assertThat(directory.resolve("go.sum")).isNotEmptyFile();
    assertThat(directory.resolve("arguments"))
        .content()
        .startsWith("build -v -trimpath -mod=readonly")
        .contains("version.gitVersion=" + modules.version(Bundle.KUBERNETES))
        .contains("-o " + target + "/ ")
        .contains("k8s.io/kubernetes/cmd/kube-scheduler");
    assertThat(Path.of(Files.readString(directory.resolve("where")).strip())).doesNotExist();
    assertThat(said.getFirst()).startsWith("building kubernetes v1.36.");
    assertThat(said.getLast()).startsWith("built kubernetes in 0m");
  }

  @Test
  void aBuildThatFailsTellsTheEndOfItsOutput() throws Exception {
    goThat("echo go: module lookup disabled; exit 3");

    assertThatThrownBy(() -> maker().make(Bundle.KWOK, target))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("go build ended with 3: go: module lookup disabled");
  }

  @Test
  void anotherVersionOfKubernetesHasModuleFilesOfItsOwn() throws Exception {
    goThat("cp go.mod $OUT");
    ModuleFiles older = new ModuleFiles("1.29");

    maker(older).make(Bundle.KUBERNETES, target);

    assertThat(directory.resolve("go.mod")).content().contains("k8s.io/kubernetes v1.29.");
    assertThat(older.version(Bundle.KUBERNETES)).startsWith("v1.29.");
    assertThat(older.version(Bundle.ETCD)).isEqualTo(modules.version(Bundle.ETCD));
    assertThatThrownBy(() -> new ModuleFiles("1.7"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("nothing in tools/control-plane pins Kubernetes 1.7");
  }

  @Test
  void everyBundleHasAVersion() {
    assertThat(Bundle.values())
        .allSatisfy(bundle -> assertThat(modules.version(bundle)).matches("v\\d+\\.\\d+\\.\\d+"));
  }

  @Test
  void theSearchPathIsThePathOfTheEnvironment() {
    assertThat(GoModuleBuilder.searchPath(Map.of("PATH", "/a/bin::/b/bin")))
        .startsWith(Path.of("/a/bin"), Path.of("/b/bin"));
  }

  private void goThat(String script) {
    Programs.make(tools, "go", "OUT=" + directory + "\n" + script);
  }

  private GoModuleBuilder maker() {
    return maker(modules);
  }

  private GoModuleBuilder maker(ModuleFiles modules) {
    return new GoModuleBuilder(modules, List.of(tools), InstantSource.system(), said::add);
  }
}
