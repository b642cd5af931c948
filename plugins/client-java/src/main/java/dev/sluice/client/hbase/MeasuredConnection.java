package dev.sluice.client.hbase;

import dev.sluice.client.LatencyReporter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.AsyncTableBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableBuilder;

/**
 * A connection whose tables tell how long their requests take, from the call to its end, with all
 * that the client tries again. It does what the one that it is made of does, and is closed with it.
 */
public final class MeasuredConnection implements InvocationHandler {
  private final Object target;
  private final LatencyReporter reporter;

  private MeasuredConnection(Object target, LatencyReporter reporter) {
    this.target = target;
    this.reporter = reporter;
  }

  /** The same connection, measured; the reporter is the caller's to close. */
  public static AsyncConnection of(AsyncConnection connection, LatencyReporter reporter) {
    return proxy(AsyncConnection.class, new MeasuredConnection(connection, reporter));
  }

  /** The same connection, measured; the reporter is the caller's to close. */
  public static Connection of(Connection connection, LatencyReporter reporter) {
    return proxy(Connection.class, new MeasuredConnection(connection, reporter));
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** Calls the connection, or a builder of its tables, and measures the tables that come of it. */
  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (isEquals(method)) {
      return proxy == arguments[0];
    }
    Object result = call(target, method, arguments);
    if (result instanceof AsyncTable<?> table) {
      return proxy(AsyncTable.class, new MeasuredTable(table, table.getName(), reporter));
    }
    if (result instanceof Table table) {
      return proxy(Table.class, new MeasuredTable(table, table.getName(), reporter));
    }
    if (result instanceof AsyncTableBuilder<?> builder) {
      return proxy(AsyncTableBuilder.class, new MeasuredConnection(builder, reporter));
    }
    if (result instanceof TableBuilder builder) {
      return proxy(TableBuilder.class, new MeasuredConnection(builder, reporter));
    }
    return result;
  }

  /** What is measured would not know itself: it is not the one that it is made of. */
  static boolean isEquals(Method method) {
    return method.getDeclaringClass() == Object.class && method.getName().equals("equals");
  }

  /** Calls a method, whose exceptions are its own. */
  static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
