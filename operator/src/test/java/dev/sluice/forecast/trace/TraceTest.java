package dev.sluice.forecast.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.forecast.runtimes.FinishedRun.End;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class TraceTest {

  private static final String SWF =
      """
      ; Version: 2.2
      ; UnixStartTime: 1000000
      2 60 -1 30 -1 -1 -1 16 3600 -1 0 7 1 4 2 -1 -1 -1
      1 0 5 100 8 -1 -1 -1 -1 -1 1 7 1 3 2 -1 -1 -1

      3 70 -1 -1 8 -1 -1 8 -1 -1 5 7 1 3 2 -1 -1 -1
      """;

  private static final String HELIOS =
      """
      job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
      a,u1,vc1,8,32,1,COMPLETED,2020-04-01 00:00:04,2020-04-01 00:01:04,2020-04-01 01:01:04,3600,60
      b,u2,vc1,0,0,1,FAILED,2020-04-01 00:00:05,None,None,10,0
      """;

  private static final String ALIBABA =
      """
      name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
      p1,8000,1024,1,1000,,LS,Failed,100,400,130
      p2,8000,1024,1,1000,,LS,Pending,100,400,
      """;

  private static Trace read(String text, TraceFormat format) throws IOException {
    return Trace.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), format);
  }

  @Test
  void jobsOfSwfComeByTheirSubmission() throws IOException {
    Trace trace = read(SWF, TraceFormat.SWF);

    assertThat(trace.errors()).isEmpty();
    assertThat(trace.skipped()).isEqualTo(1);
    assertThat(trace.jobs()).extracting(TraceJob::id).containsExactly("1", "2");
    TraceJob first = trace.jobs().getFirst();
    assertThat(first.submittedAt()).isEqualTo(Instant.ofEpochSecond(1_000_000));
    assertThat(first.lasted()).isEqualTo(Duration.ofSeconds(100));
    assertThat(first.waited()).contains(Duration.ofSeconds(5));
    assertThat(first.amounts()).isEqualTo(Map.of("cpu", 8_000L));
    assertThat(first.limit()).isEmpty();
    assertThat(first.end()).isEqualTo(End.SUCCEEDED);
    assertThat(first.owner()).isEqualTo(new TraceJob.JobOwner("7", "1", "3", "2"));
    TraceJob second = trace.jobs().getLast();
    assertThat(second.amounts()).isEqualTo(Map.of("cpu", 16_000L));
    assertThat(second.limit()).contains(Duration.ofHours(1));
    assertThat(second.waited()).isEmpty();
    assertThat(second.end()).isEqualTo(End.FAILED);
  }

  @Test
  void jobsOfHelios() throws IOException {
    Trace trace = read(HELIOS, TraceFormat.HELIOS);

    assertThat(trace.errors()).isEmpty();
    assertThat(trace.skipped()).isEqualTo(1);
    TraceJob job = trace.jobs().getFirst();
    assertThat(job.submittedAt()).isEqualTo(Instant.parse("2020-04-01T00:00:04Z"));
    assertThat(job.amounts()).isEqualTo(Map.of("cpu", 32_000L, "nvidia.com/gpu", 8L));
    assertThat(job.waited()).contains(Duration.ofMinutes(1));
    assertThat(job.owner()).isEqualTo(new TraceJob.JobOwner("u1", "", "", "vc1"));
  }

  @Test
  void podsOfAlibaba() throws IOException {
    Trace trace = read(ALIBABA, TraceFormat.ALIBABA);

    assertThat(trace.errors()).isEmpty();
    assertThat(trace.skipped()).isEqualTo(1);
    TraceJob job = trace.jobs().getFirst();
    assertThat(job.lasted()).isEqualTo(Duration.ofSeconds(270));
    assertThat(job.waited()).contains(Duration.ofSeconds(30));
    assertThat(job.amounts())
        .isEqualTo(Map.of("cpu", 8_000L, "memory", 1L << 30, "alibabacloud.com/gpu-milli", 1_000L));
    assertThat(job.end()).isEqualTo(End.FAILED);
  }

  /** Time axis, section 5. */
  @Test
  void podsOfAlibabaShareGpus() throws IOException {
    assertThat(gpus(ALIBABA.replace("1024,1,1000", "1024,1,460")))
        .isEqualTo(Map.of("alibabacloud.com/gpu-milli", 460L));
    assertThat(gpus(ALIBABA.replace("1024,1,1000", "1024,2,1000")))
        .isEqualTo(Map.of("alibabacloud.com/gpu-milli", 2_000L));
    assertThat(gpus(ALIBABA.replace("1024,1,1000", "1024,2,")))
        .isEqualTo(Map.of("alibabacloud.com/gpu-milli", 2_000L));
    assertThat(gpus(ALIBABA.replace("gpu_milli", "other"))).isEqualTo(Map.of("nvidia.com/gpu", 1L));
    assertThat(read(ALIBABA.replace("1024,1,1000", "1024,1,x"), TraceFormat.ALIBABA).errors())
        .first()
        .asString()
        .contains("line 2: gpu_milli: \"x\"");
  }

  private static Map<String, Long> gpus(String text) throws IOException {
    Map<String, Long> amounts =
        new HashMap<>(read(text, TraceFormat.ALIBABA).jobs().getFirst().amounts());
    amounts.keySet().removeAll(Set.of("cpu", "memory"));
    return amounts;
  }

  @Test
  void nodesOfAlibabaAreSummedUp() throws IOException {
    assertThat(nodes("sn,cpu_milli,memory_mib,gpu,model\na,64000,1024,2,P100\nb,96000,1024,0,\n"))
        .isEqualTo(
            Map.of(
                "cpu",
                160_000L,
                "memory",
                2L << 30,
                "nvidia.com/gpu",
                2L,
                "alibabacloud.com/gpu-milli",
                2_000L));
    assertThatThrownBy(() -> nodes("sn,cpu_milli,gpu\n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("line 1: the header lacks memory_mib");
    assertThatThrownBy(() -> nodes("sn,cpu_milli,memory_mib,gpu\na,many,1,1\n"))
        .hasMessageContaining("line 2: cpu_milli: \"many\"");
  }

  private static Map<String, Long> nodes(String text) throws IOException {
    return Trace.alibabaNodes(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void gzipIsRecognized() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(SWF.getBytes(StandardCharsets.UTF_8));
    }

    assertThat(Trace.read(new ByteArrayInputStream(bytes.toByteArray()), TraceFormat.SWF).jobs())
        .isEqualTo(read(SWF, TraceFormat.SWF).jobs());
  }

  @Test
  void malformedLinesAreToldByNumberAndReason() throws IOException {
    Trace trace =
        read(
            "1 0 5\n"
                + SWF
                + "4 0 5 x 8 -1 -1 -1 -1 -1 1 7 1 3 2 -1 -1 -1\n"
                + "5 0 5 1e999999999 8 -1 -1 -1 -1 -1 1 7 1 3 2 -1 -1 -1\n"
                + "6".repeat(Trace.LINE + 10)
                + "\n",
            TraceFormat.SWF);

    assertThat(trace.jobs()).hasSize(2);
    assertThat(trace.malformed()).isEqualTo(4);
    assertThat(trace.errors())
        .containsExactly(
            "line 1: 3 fields, must be 18",
            "line 8: run time: \"x\" isn't a number up to 1000000000000",
            "line 9: run time: \"1e999999999\" isn't a number up to 1000000000000",
            "line 10: longer than 16384 characters");
    assertThat(read("a,b\n1,2\n", TraceFormat.HELIOS).errors().getFirst())
        .isEqualTo(
            "line 1: the header lacks job_id, user, vc, gpu_num, cpu_num, state, submit_time,"
                + " duration");
  }

  @Test
  void noTextMakesTheReaderFail() throws IOException {
    Random random = new Random(11);
    String[] texts = {SWF, HELIOS, ALIBABA};
    for (int i = 0; i < 3_000; i++) {
      int which = i % texts.length;
      char[] changed = texts[which].toCharArray();
      for (int change = random.nextInt(6); change >= 0; change--) {
        changed[random.nextInt(changed.length)] =
            "0123456789-+.eE,;: \nxN".charAt(random.nextInt(22));
      }
      Trace trace = read(new String(changed), TraceFormat.values()[which]);
      assertThat(trace.jobs().size() + trace.skipped() + trace.malformed()).isLessThan(200);
    }
  }
}
