package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.record.CachedWorkload.Owner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who owns a Workload, as it is read. */
class WorkloadOwnersTest {

  private static final String JOB =
      "{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'1','controller':true}";
  private static final String POD = "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'2'}";

  private static CachedWorkload read(String owners) throws IOException {
    String json = "{'metadata':{'name':'w','namespace':'team','ownerReferences':[" + owners + "]}}";
    return new WorkloadParser().parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void whoControlsItIsToldFromThoseWhoOnlyOwnIt() throws IOException {
    CachedWorkload workload = read(JOB + "," + POD);
    assertThat(workload.owned()).isTrue();
    assertThat(workload.owner()).contains(new Owner("batch/v1", "Job", "j", "1"));
    assertThat(workload.coOwners()).containsExactly(new Owner("v1", "Pod", "p", "2"));
  }

  @Test
  void whoIsOwnedNeedNotBeControlled() throws IOException {
    CachedWorkload workload = read(POD);
    assertThat(workload.owned()).isTrue();
    assertThat(workload.owner()).isEqualTo(Optional.empty());
  }

  @Test
  void oneMayBeOwnedByNobody() throws IOException {
    CachedWorkload workload = read("");
    assertThat(workload.owned()).isFalse();
    assertThat(workload.coOwners()).isEmpty();
  }
}
