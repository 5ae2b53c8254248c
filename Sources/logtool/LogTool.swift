internal import ArgumentParser

@main
struct LogTool: ParsableCommand {}
