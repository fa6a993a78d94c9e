package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.endtoend.TaskPage.Command;
import dev.sluice.endtoend.TaskPage.SavedFile;
import org.junit.jupiter.api.Test;

class TaskPageTest {

  @Test
  void filesAndCommandsComeInTheOrderOfThePage() {
    String page =
        """
        # A page
        ```yaml
        # queue.yaml
        kind: Queue
        ```
        ```yaml
        kind: OnlyAnExample
        ```
        ```console
        $ first \\
            --option
        shown
        too
        $ second
        ```
        ```sh
        third
        ```
        """;

    assertThat(TaskPage.steps(page))
        .containsExactly(
            new SavedFile("queue.yaml", "# queue.yaml\nkind: Queue\n"),
            new Command("first --option", "shown\ntoo\n"),
            new Command("second", ""));
  }

  @Test
  void aBlockWithoutACommandIsAFault() {
    assertThatThrownBy(() -> TaskPage.steps("```console\nkubectl get jobs\n```\n"))
        .hasMessageContaining("a console block has no command");
  }

  @Test
  void timesEndsOfNamesAndWidthsOfColumnsMayDiffer() {
    Command command = new Command("kubectl get jobs", "NAME   AGE\njob-a-7b390   9s\n");

    assertThat(command.shows("NAME AGE\njob-a-0ff1c   1m12s\n")).isTrue();
    assertThat(command.shows("NAME AGE\njob-b-0ff1c   1m12s\n")).isFalse();
    assertThat(command.shows("NAME AGE\njob-a-0ff1c   1m12s\njob-b-0ff1c   1s\n")).isFalse();
  }

  @Test
  void anEllipsisStandsForAnything() {
    Command command = new Command("./sluice explain workload a", "a\n…\nheld by b: cpu …\n");

    assertThat(command.shows("a\n  x\n  y\n  held by b: cpu 2\n")).isTrue();
    assertThat(command.shows("a\n  x\n  held by c: cpu 2\n")).isFalse();
    assertThat(command.shows("b\n  held by b: cpu 2\n")).isFalse();
  }

  @Test
  void onlyWhatReadsIsRepeated() {
    assertThat(new Command("kubectl --kubeconfig w get pods -n a", "").reads()).isTrue();
    assertThat(new Command("curl -s http://localhost:8081/readyz", "").reads()).isTrue();
    assertThat(new Command("kubectl delete -f get.yaml", "").reads()).isFalse();
    assertThat(new Command("TOKEN=$(kubectl get secret)", "").reads()).isFalse();
  }
}
