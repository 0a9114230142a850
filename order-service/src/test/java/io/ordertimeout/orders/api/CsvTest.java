package io.ordertimeout.orders.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CsvTest {

  @Test
  void quotesWhatNeedsIt() {
    Csv csv = new Csv();
    csv.text("plain").text("a,b").text("say \"hi\"").text("two\r\nlines").text(null).end();
    csv.value(7).value(null).end();

    assertThat(csv).hasToString("plain,\"a,b\",\"say \"\"hi\"\"\",\"two\r\nlines\",\r\n7,\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "=HYPERLINK(\"x\")", "＝1", "\r=1"})
  void aTextNeverBecomesAFormula(String text) {
    String field = new Csv().text(text).end().toString();

    assertThat(field.replaceFirst("^\"", "")).startsWith("'");
    assertThat(field).contains(text.replace("\"", "\"\""));
  }

  @Test
  void otherTextsAndValuesStayAsTheyAre() {
    assertThat(new Csv().text("a-b=c@d").text("").text(" ").value(-1).end())
        .hasToString("a-b=c@d,, ,-1\r\n");
  }
}
