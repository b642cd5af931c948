/** Results of JUnit tests in the Test Anything Protocol. */
package dev.sluice.tap;
