package dev.sluice.lab.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes can be described in one word of a command line. */
class NodeGroupTest {

  @Test
  void aNameAloneIsOnePlentifulNode() {
    assertThat(NodeGroup.parse("node")).isEqualTo(NodeGroup.plentiful("node", 1));
  }

  @Test
  void everythingCanBeSaid() {
    NodeGroup group =
        NodeGroup.parse(
            "spot:count=3,cpu=2000,nvidia.com/gpu=8,label=type=spot,taint=spot=true:NoSchedule,"
                + "taint=odd:NoExecute");

    assertThat(group)
        .isEqualTo(
            NodeGroup.plentiful("spot", 3)
                .withCapacity("cpu", "2000")
                .withCapacity("nvidia.com/gpu", "8")
                .withLabel("type", "spot")
                .withTaint(new NodeTaint("spot", "true", "NoSchedule"))
                .withTaint(new NodeTaint("odd", "", "NoExecute")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Spot                   | node group \"Spot\": the name must be a DNS label",
        "spot:count=0           | node group spot: count is 0, must be 1 or more",
        "spot:count=many        | node group spot: count \"many\" is not a number",
        "spot:2000              | node group spot: \"2000\" is none of count=<number>",
        "spot:label=type        | label \"type\" is not of the form key=value",
        "spot:taint=spot        | taint \"spot\" is not of the form key[=value]:effect",
        "spot:taint=spot:Never  | taint spot: effect \"Never\" is none of [NoSchedule"
      })
  void whatCanNotBeReadIsNamedWithWhatIsAllowed(String text, String message) {
    assertThatThrownBy(() -> NodeGroup.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
