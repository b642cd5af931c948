package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.junit.jupiter.api.Test;

class FailuresTest {

  @Test
  void aKnownExceptionHasItsAdvice() {
    CommandFailure failure = Failures.explain(new TableNotFoundException("orders"));
    assertEquals("table not found: orders", failure.getMessage());
    assertTrue(failure.advice().contains("hbase tables"), failure.advice());
  }

  @Test
  void aCauseIsFound() {
    Exception thrown = new IOException("call failed", new TableNotDisabledException("orders"));
    assertTrue(Failures.explain(thrown).advice().contains("hbase disable"));
  }

  @Test
  void anExceptionThatIsPartOfATextIsFound() {
    String text = TableNotDisabledException.class.getName() + ": orders\n\tat somewhere";
    CommandFailure failure = Failures.explain(new IOException(text));
    assertTrue(failure.advice().contains("hbase disable"), failure.advice());
    assertTrue(!failure.getMessage().contains("\n"), failure.getMessage());
  }

  @Test
  void ownFailuresStayAsTheyAre() {
    CommandFailure own = new CommandFailure("message", "advice");
    assertSame(own, Failures.explain(new RuntimeException(own)));
  }

  @Test
  void othersSayWhatTheyAre() {
    assertEquals("IOException: broken", Failures.explain(new IOException("broken")).getMessage());
  }
}
