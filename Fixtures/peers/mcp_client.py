"""Calls the tools of `logtool mcp` with the `mcp` package of PyPI. Arguments: the program, a log of 60 messages, a folder to write into."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

program, log, folder = sys.argv[1:]
asked = []


async def confirm(context, parameters):
    asked.append(parameters.message)
    return types.ElicitResult(action="accept", content={"confirm": True})


async def whole(session, tool, arguments):
    """An answer of all its pages. The members' names differ between the versions of the package."""
    text = ""
    while True:
        answer = (await session.call_tool(tool, arguments)).model_dump(by_alias=True)
        assert not answer["isError"], answer
        text += answer["content"][1]["text"]
        cursor = (answer.get("_meta") or {}).get("eventlog/cursor")
        if cursor is None:
            return text
        arguments = {"cursor": cursor}


async def main():
    server = StdioServerParameters(command=program, args=["mcp", log, "--writes-into", folder, "--page-bytes", "2000"])
    async with stdio_client(server) as streams:
        async with ClientSession(*streams, elicitation_callback=confirm) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert {"replay", "history", "audit", "events", "diff", "bisect", "gaps", "sql", "freeze"} <= tools, tools
            assert len(json.loads(await whole(session, "replay", {}))["messages"]) == 60
            events = [json.loads(line) for line in (await whole(session, "events", {})).splitlines()]
            assert [event["sequence"] for event in events] == [str(number) for number in range(1, len(events) + 1)]
            found = json.loads(await whole(session, "bisect", {"when": "count(messages) > 9"}))
            assert int(found["first"]) >= 10, found
            counted = json.loads(await whole(session, "sql", {"statement": "SELECT count(*) AS n FROM messages"}))
            assert counted == {"n": 60}, counted
            await whole(session, "freeze", {"name": "made"})
            assert "made" in os.listdir(folder) and len(asked) == 1, asked


asyncio.run(main())
