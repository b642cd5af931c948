// A program that a test runs.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {

// Its standard input and output are one socket. Ended with its owner.
class ChildProcess {
 public:
  explicit ChildProcess(std::vector<std::string> arguments) {
    std::array<int, 2> ends;
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
    socket_ = FileDescriptor(ends[0]);
    const FileDescriptor child_end(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> pointers;
    for (auto& each : arguments) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    ::posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(),
                  environ);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~ChildProcess() {
    Signal(SIGKILL);
    Wait();
  }

  void Send(const std::string& text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count = ::send(socket_.get(), text.data() + sent,
                                   text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<size_t>(count);
    }
  }
  void CloseInput() { ::shutdown(socket_.get(), SHUT_WR); }

  // The next line of its output; nothing at the end.
  std::optional<std::string> ReadLine() {
    size_t end;
    while ((end = received_.find('\n')) == std::string::npos) {
      std::array<char, 4096> part;
      const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
      if (count <= 0) return std::nullopt;
      received_.append(part.data(), static_cast<size_t>(count));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

  void Signal(int number) {
    if (pid_ > 0) ::kill(pid_, number);
  }
  // The exit status; 128 and more if a signal has ended it.
  int Wait() {
    if (pid_ > 0) {
      int status = 0;
      ::waitpid(pid_, &status, 0);
      status_ =
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      pid_ = -1;
    }
    return status_;
  }

 private:
  FileDescriptor socket_;
  pid_t pid_ = -1;
  int status_ = 0;
  std::string received_;
};

}  // namespace sluice
