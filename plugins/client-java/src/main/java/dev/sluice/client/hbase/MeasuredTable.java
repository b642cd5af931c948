package dev.sluice.client.hbase;

import dev.sluice.client.LatencyReporter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hbase.TableName;

/** A table whose requests are measured: each future of a call is one, or else the call itself. */
final class MeasuredTable implements InvocationHandler {
  private final Object table;
  private final TableName name;
  private final LatencyReporter reporter;

  MeasuredTable(Object table, TableName name, LatencyReporter reporter) {
    this.table = table;
    this.name = name;
    this.reporter = reporter;
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (MeasuredConnection.isEquals(method)) {
      return proxy == arguments[0];
    }
    Optional<TableRequest> request = TableRequest.of(name, method, arguments);
    if (request.isEmpty()) {
      return MeasuredConnection.call(table, method, arguments);
    }
    return measure(request.get(), method, arguments);
  }

  private Object measure(TableRequest request, Method method, Object[] arguments) throws Throwable {
    long begunNanos = System.nanoTime();
    Object result;
    try {
      result = MeasuredConnection.call(table, method, arguments);
    } catch (Throwable e) {
      reporter.failed(request.operation(), request.scope());
      throw e;
    }
    if (isOfFutures(result)) {
      ((List<?>) result).forEach(each -> follow((CompletableFuture<?>) each, request, begunNanos));
    } else if (result instanceof CompletableFuture<?> future) {
      follow(future, request, begunNanos);
    } else {
      end(request, begunNanos, null);
    }
    return result;
  }

  private static boolean isOfFutures(Object result) {
    return result instanceof List<?> several
        && !several.isEmpty()
        && several.get(0) instanceof CompletableFuture<?>;
  }

  private void follow(CompletableFuture<?> future, TableRequest request, long begunNanos) {
    future.whenComplete((found, error) -> end(request, begunNanos, error));
  }

  private void end(TableRequest request, long begunNanos, Throwable error) {
    if (error != null) {
      reporter.failed(request.operation(), request.scope());
      return;
    }
    reporter.succeeded(request.operation(), request.scope(), System.nanoTime() - begunNanos);
  }
}
