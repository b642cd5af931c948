// One client of the socket, which reads and writes without waiting.
#pragma once

#include <string>

#include "sluice/protocol/file_descriptor.h"
#include "sluice/protocol/requests.h"

namespace sluice {

class Connection {
 public:
  Connection(FileDescriptor socket, Requests* requests)
      : socket_(std::move(socket)), requests_(requests) {
    socket_.CloseInChildren();
  }

  int descriptor() const { return socket_.get(); }

  // What to poll for: nothing is read while there is something to answer.
  short WantedEvents() const;

  // Reads, answers and writes what can be without waiting, a bounded number of
  // lines; false at the end.
  bool Serve();

  // Sends a last line before the end.
  void TurnAway(std::string line);

 private:
  enum class Progress { kMade, kMustWait, kEnded };

  Progress Step();
  Progress Write();
  Progress Read();
  static Progress AfterFailure();
  bool AnswerLine();

  FileDescriptor socket_;
  Requests* const requests_;
  std::string received_;
  // Up to here there is no newline in what was received.
  size_t searched_ = 0;
  std::string to_send_;
  size_t sent_ = 0;
  bool is_ending_ = false;
};

}  // namespace sluice
